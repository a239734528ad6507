"""What the guard refuses, what it lets through, and the headers it adds."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from components.server.bodies import MAX_JSON
from components.server.guard import Guard

ANY = ("GET /{rest:path}", "GET /", "POST /{rest:path}")


async def echo(request: Request) -> JSONResponse:
    return JSONResponse({"path": request.url.path, "bytes": len(await request.body())})


@pytest.fixture(scope="module")
def client():
    routes = [Route("/{rest:path}", echo, methods=["GET", "POST"])]
    app = Starlette(routes=routes, middleware=[Middleware(Guard, routes=ANY)])
    return TestClient(app, base_url="http://gleanvid.example:7860")


def post(client, content, **headers):
    return client.post("/gradio_api/queue/join", json=content, headers=headers)


def test_the_page_itself_passes(client):
    content = {"data": [{"path": "/cache/clip.mp4", "url": "http://gleanvid.example:7860/x"}]}
    reply = post(client, content, origin="http://gleanvid.example:7860")
    assert reply.status_code == 200 and reply.json()["bytes"] > 20
    assert client.get("/").status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "http://gleanvid.example:1", "null"])
def test_pages_of_other_sites_are_refused(client, origin):
    assert post(client, {}, origin=origin).status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "/gradio_api/file=https://evil.example/film.mp4",
        "/gradio_api/file=http:%2F%2Fevil.example/film.mp4",
        "/gradio_api/proxy=https://evil.example/",
        "/gradio_api/file=//evil.example/film.mp4",
    ],
)
def test_the_server_is_nobodys_proxy(client, path):
    assert client.get(path).status_code == 403


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1/x.mp4", "HTTPS://a.example/x", " ftp://a/x", "file:///etc/passwd"]
)
def test_files_named_by_an_address_are_refused(client, address):
    deep = {"data": [[{"nested": {"path": address}}]]}
    reply = post(client, deep)
    assert reply.status_code == 422
    assert "Upload the file" in reply.json()["detail"][0]["message"]


@pytest.mark.parametrize("at", ["http://gleanvid.example:7860", "https://proxy.example/gleanvid"])
def test_the_address_of_an_upload_is_read_as_its_path(at):
    async def seen(request: Request) -> JSONResponse:
        return JSONResponse(await request.json())

    app = Starlette(
        routes=[Route("/{rest:path}", seen, methods=["POST"])],
        middleware=[Middleware(Guard, routes=ANY)],
    )
    sent = {"data": [{"path": f"{at}/gradio_api/file=/cache/a%20clip.mp4"}, "http://a.example/"]}
    reply = TestClient(app).post("/gradio_api/queue/join", json=sent)
    assert reply.json() == {"data": [{"path": "/cache/a clip.mp4"}, "http://a.example/"]}
    hidden = {"path": f"{at}/gradio_api/file=http://evil.example/x"}
    assert TestClient(app).post("/run", json=hidden).status_code == 422


def test_escapes_do_not_hide_an_address(client):
    body = r'{"data": [{"p\u0061th": "http\u003a\/\/evil.example/x"}]}'
    headers = {"content-type": "application/json"}
    assert client.post("/run", content=body, headers=headers).status_code == 422


def test_huge_json_is_refused(client):
    assert post(client, {"data": "x" * MAX_JSON}).status_code == 413


@pytest.mark.parametrize(
    "kinds",
    [
        ["Application/JSON"],
        [" application/json"],
        ["application/json; charset=utf-8"],
        ["application/vnd.api+json"],
        ["text/plain"],
        ["Multipart/Form-Data; boundary=x"],  # JSON to some of Gradio's routes
        ["multipart/form-data-json"],
        ["application/json", "multipart/form-data; boundary=x"],
        [],
    ],
    ids=str,
)
def test_no_label_hides_json(client, kinds):
    headers = [("content-type", kind) for kind in kinds]
    body = b'{"data": [{"path": "http://evil.example/x"}]}'
    assert client.post("/run", content=body, headers=headers).status_code == 422
    assert client.post("/run", content=b"x" * (MAX_JSON + 1), headers=headers).status_code == 413


def test_uploads_may_be_large(client):
    reply = client.post("/gradio_api/upload", files={"files": b"x" * (MAX_JSON + 1)})
    assert reply.status_code == 200 and reply.json()["bytes"] > MAX_JSON


def test_every_answer_carries_the_headers(client):
    for reply in (client.get("/"), post(client, {}, origin="http://evil.example")):
        assert "frame-ancestors 'self'" in reply.headers["content-security-policy"]
        assert reply.headers["x-content-type-options"] == "nosniff"


def test_a_space_may_be_framed_by_its_host_and_nobody_else():
    routes = [Route("/{rest:path}", echo)]
    framed = Middleware(Guard, framed_by=" https://a.example", routes=ANY)
    page = TestClient(Starlette(routes=routes, middleware=[framed])).get("/")
    policy = page.headers["content-security-policy"]
    assert policy.endswith("frame-ancestors 'self' https://a.example")


def test_two_lengths_are_one_too_many(client):
    headers = {"content-length": "4", "transfer-encoding": "chunked"}
    assert client.post("/run", content=b"{}", headers=headers).status_code == 400


def test_an_answer_with_a_part_of_a_file_repeats_no_header(client):
    async def mirrored(request: Request) -> JSONResponse:
        return JSONResponse({}, headers=dict(request.headers))

    routes = [Route("/{rest:path}", mirrored)]
    mirror = TestClient(Starlette(routes=routes, middleware=[Middleware(Guard, routes=ANY)]))
    sent = {"range": "bytes=0-1", "set-cookie": "a=b", "x-own": "c", "cookie": "d=e"}
    reply = mirror.get("/gradio_api/file=/cache/clip.mp4", headers=sent)
    assert reply.headers["range"] == "bytes=0-1"
    assert not {"set-cookie", "x-own", "cookie"} & set(reply.headers)
