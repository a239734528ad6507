import json

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from components.server import guard
from components.server.allowed import GRADIO, MAX_JSON
from components.server.guard import Guard
from components.server.uploads import Uploads

ANY = ("GET /{rest:path}", "POST /{rest:path}")
HERE = "http://gleanvid.example:7860"
FORM = {"content-type": "multipart/form-data; boundary=x"}


async def echo(request: Request) -> JSONResponse:
    body = (await request.body()).decode("latin-1")
    return JSONResponse({"path": request.url.path, "body": body}, headers=dict(request.headers))


def visiting(**options):
    routes = [Route("/{rest:path}", echo, methods=["GET", "POST"])]
    behind = Guard(Starlette(routes=routes), **{"routes": ANY} | options)
    return TestClient(behind, HERE, client=("1.2.3.4", 1), headers={"host": HERE[7:]})


@pytest.fixture(scope="module")
def client():
    return visiting()


def post(client, content, **headers):
    return client.post(f"{GRADIO}/queue/join", json=content, headers=headers)


def test_only_requests_from_the_app_s_own_page_are_accepted(client):
    assert post(client, {"data": ["x"]}, origin=HERE).status_code == 200
    assert client.get("/").status_code == 200
    for origin in ("http://evil.example", "null", "http://[", "http://gleanvid.example:1"):
        assert post(client, {}, origin=origin).status_code == 403


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "Multipart/Form-Data", None])
def test_web_address_in_a_json_body_is_refused_under_every_content_type(client, kind):
    headers = {"content-type": kind} if kind else {}
    body = rb'{"data": [{"p\u0061th": "http\u003a\/\/evil.example/x"}]}'
    reply = client.post("/run", content=body, headers=headers)
    assert reply.status_code == 422
    assert "Upload the file" in reply.json()["detail"][0]["message"]
    assert client.post("/run", content=b"x" * (MAX_JSON + 1), headers=headers).status_code == 413


@pytest.mark.parametrize("at", [HERE, "https://proxy.example/gleanvid"])
def test_web_address_of_an_upload_is_replaced_by_its_path(client, at):
    reply = post(client, {"data": [{"path": f"{at}/gradio_api/file=/files/a/a%20clip.mp4"}]})
    assert json.loads(reply.json()["body"]) == {"data": [{"path": "/files/a/a clip.mp4"}]}
    hidden = {"path": f"{at}/gradio_api/file=http://evil.example/x"}
    assert post(client, hidden).status_code == 422


def test_every_response_has_the_security_headers(client):
    for reply in (client.get("/"), post(client, {}, origin="http://evil.example")):
        assert "frame-ancestors 'self'" in reply.headers["content-security-policy"]
        assert reply.headers["x-content-type-options"] == "nosniff"
    framed = visiting(framed_by=" https://a.example").get("/")
    policy = framed.headers["content-security-policy"]
    assert policy.endswith("frame-ancestors 'self' https://a.example")


def test_uploads_without_length_or_without_disk_space_are_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    (tmp_path / "held").write_bytes(bytes(600))
    client = visiting(uploads=Uploads(2_000, 1_000))

    def status(content, **headers):
        return client.post(guard.UPLOAD, content=content, headers=FORM | headers).status_code

    assert status(bytes(300)) == 200 and status(bytes(300)) == 507
    assert status(bytes(10), **{"content-length": "3000000"}) == 413
    assert status(iter([b"of no ", b"known length"])) == 411
    assert client.post("/run", json={"data": ["x" * 1_000]}).status_code == 200


def test_websocket_connections_are_refused(client):
    with pytest.raises(Exception), client.websocket_connect("/"):  # noqa: B017, PT011
        pass
