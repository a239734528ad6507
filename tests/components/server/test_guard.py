"""What the guard refuses, what it lets through, and the headers it adds."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from components.server import guard
from components.server.bodies import MAX_JSON
from components.server.disk import Uploads
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


def test_scripts_that_import_each_other_are_never_taken_from_an_old_cache(client):
    for path, kept in (("viewer/mount.js", "no-cache"), ("clips/clip.mp4", None)):
        reply = client.get(f"/gradio_api/file=/home/app/assets/{path}")
        assert reply.headers.get("cache-control") == kept


def test_a_space_may_be_framed_by_its_host_and_nobody_else():
    routes = [Route("/{rest:path}", echo)]
    framed = Middleware(Guard, framed_by=" https://a.example", routes=ANY)
    page = TestClient(Starlette(routes=routes, middleware=[framed])).get("/")
    policy = page.headers["content-security-policy"]
    assert policy.endswith("frame-ancestors 'self' https://a.example")


def test_uploads_are_refused_before_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    (tmp_path / "held").write_bytes(bytes(600))
    routes = [Route("/{rest:path}", echo, methods=["POST"])]
    limited = Middleware(Guard, uploads=Uploads(2_000, 1_000), routes=ANY)
    visitor = TestClient(Starlette(routes=routes, middleware=[limited]))

    form = b'--x\r\ncontent-disposition: form-data; name="files"; filename="a"\r\n\r\n'
    form += bytes(300 - 7 - len(form)) + b"\r\n--x--"

    def status(content, **headers):
        kind = {"content-type": "multipart/form-data; boundary=x"}
        return visitor.post(
            "/gradio_api/upload", content=content, headers=kind | headers
        ).status_code

    assert status(form) == 200 and status(form) == 507
    assert status(bytes(10), **{"content-length": "3000000"}) == 413
    assert status(iter([b"of no ", b"known length"])) == 411
    assert visitor.post("/run", json={"data": ["x" * 1_000]}).status_code == 200


def test_a_page_that_asks_too_often_is_told_to_wait():
    routes = [Route("/{rest:path}", echo, methods=["GET", "POST"])]
    limited = Middleware(Guard, requests_per_minute=2, routes=ANY)
    visitor = TestClient(Starlette(routes=routes, middleware=[limited]))
    assert [post(visitor, {}).status_code for _ in range(3)] == [200, 200, 429]
    assert [visitor.get("/").status_code for _ in range(3)] == [200, 200, 429]


def test_reading_has_a_limit_too():
    routes = [Route("/{rest:path}", echo)]
    limited = Middleware(Guard, requests_per_minute=1, routes=ANY)
    visitor = TestClient(Starlette(routes=routes, middleware=[limited]))
    told = [visitor.get("/gradio_api/info").status_code for _ in range(guard.READS + 1)]
    assert told == [200] * guard.READS + [429]


def test_two_lengths_are_one_too_many(client):
    headers = {"content-length": "4", "transfer-encoding": "chunked"}
    assert client.post("/run", content=b"{}", headers=headers).status_code == 400


def test_a_visitor_has_so_many_events_under_way_and_others_theirs():
    addresses = ["testclient"] * 2  # whom a test client counts for
    routes = [Route("/{rest:path}", echo, methods=["GET", "POST"])]
    limited = Middleware(Guard, routes=ANY, events=2, under_way=lambda: addresses)
    visitor = TestClient(Starlette(routes=routes, middleware=[limited]))
    assert post(visitor, {}).status_code == 429
    assert visitor.post("/gradio_api/call/ask", json={}).status_code == 429
    assert visitor.post("/gradio_api/cancel", json={}).status_code == 200
    addresses[0] = "1.2.3.4"
    assert post(visitor, {}).status_code == 200


def test_a_crowd_whose_bodies_end_at_once_begins_no_more_events():
    """Each of them was let in while nothing was under way."""
    begun, told, ready = [], [], asyncio.Event()

    async def held(scope, receive, send):
        begun.append(scope)
        await asyncio.sleep(0.05)
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def body():
        await ready.wait()
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def answered(message):
        if message["type"] == "http.response.start":
            told.append(message["status"])

    async def requests():
        behind = Guard(held, events=3)
        scope = {**asked("/gradio_api/call/ask"), "method": "POST", "client": ("1.2.3.4", 1)}
        tasks = [asyncio.create_task(behind(scope, body, answered)) for _ in range(20)]
        await asyncio.sleep(0.05)
        ready.set()
        await asyncio.gather(*tasks)

    crowd(requests)
    assert len(begun) == 3 and sorted(told) == [200] * 3 + [429] * 17


def test_an_upload_has_a_short_name(client):
    files = {"files": b"x"}
    assert client.post("/gradio_api/upload?upload_id=" + "x" * 40, files=files).status_code == 200
    assert client.post("/gradio_api/upload?upload_id=" + "x" * 400, files=files).status_code == 414
    assert client.get("/gradio_api/upload_progress?upload_id=" + "x" * 400).status_code == 414
    assert client.get("/?question=" + "x" * 400).status_code == 200


def test_an_answer_with_a_part_of_a_file_repeats_no_header(client):
    async def mirrored(request: Request) -> JSONResponse:
        return JSONResponse({}, headers=dict(request.headers))

    routes = [Route("/{rest:path}", mirrored)]
    mirror = TestClient(Starlette(routes=routes, middleware=[Middleware(Guard, routes=ANY)]))
    sent = {"range": "bytes=0-1", "set-cookie": "a=b", "x-own": "c", "cookie": "d=e"}
    reply = mirror.get("/gradio_api/file=/cache/clip.mp4", headers=sent)
    assert reply.headers["range"] == "bytes=0-1"
    assert not {"set-cookie", "x-own", "cookie"} & set(reply.headers)


def crowd(requests):
    """The outcome of a coroutine in a loop of its own: Playwright leaves one in this thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, requests()).result()


def asked(path):
    headers, server = [(b"host", b"localhost")], ("localhost", 80)
    scope = {"type": "http", "method": "GET", "path": path, "scheme": "http", "query_string": b""}
    return {**scope, "headers": headers, "server": server}


def test_who_receives_the_page_slowly_keeps_nobody_waiting():
    async def page(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x"})

    async def requests():
        never, served = asyncio.Event(), []

        async def slow(message):
            await never.wait()

        async def quick(message):
            served.append(message["type"])

        behind = Guard(page)
        waiting = [asyncio.create_task(behind(asked("/"), None, slow)) for _ in range(5)]
        await asyncio.sleep(0)
        await asyncio.wait_for(behind(asked("/"), None, quick), 2)
        for task in waiting:
            task.cancel()
        return served

    assert crowd(requests) == ["http.response.start", "http.response.body"]


def test_a_crowd_at_the_page_keeps_no_monitor_waiting():
    made = []

    async def answer(scope, receive, send):
        if scope["path"] == "/":
            made.append(scope)
        await asyncio.sleep(0.01)
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def requests():
        async def ignored(message):
            pass

        behind = Guard(answer)
        pages = [asyncio.create_task(behind(asked("/"), None, ignored)) for _ in range(50)]
        await behind(asked("/healthz"), None, ignored)
        begun = len(made)
        await asyncio.gather(*pages)
        return begun

    assert crowd(requests) < 10 and len(made) == 50
