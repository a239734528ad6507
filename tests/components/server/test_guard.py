from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from components.server import guard, visitors
from components.server.allowed import GRADIO, MAX_JSON
from components.server.guard import Guard
from components.server.uploads import Uploads

ANY = ("GET /{rest:path}", "POST /{rest:path}")
HERE = "http://gleanvid.example:7860"
FORM = {"content-type": "multipart/form-data; boundary=x"}


async def echo(request: Request) -> JSONResponse:
    body = (await request.body()).decode("latin-1")
    return JSONResponse({"path": request.url.path, "body": body}, headers=dict(request.headers))


def guarded(app=None, **options):
    routes = [Route("/{rest:path}", echo, methods=["GET", "POST"])]
    return Guard(app or Starlette(routes=routes), **{"routes": ANY} | options)


def visiting(behind, address="1.2.3.4"):
    return TestClient(behind, HERE, client=(address, 1), headers={"host": HERE[7:]})


@pytest.fixture(scope="module")
def client():
    return visiting(guarded())


def post(client, content, **headers):
    return client.post(f"{GRADIO}/queue/join", json=content, headers=headers)


def concurrently(requests):
    """Run a coroutine in a new thread: Playwright's event loop occupies the main thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, requests()).result()


def statuses_of_simultaneous(behind, *asked):
    async def send(method, path, address):
        transport = httpx.ASGITransport(behind, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as visitor:
            reply = await visitor.request(method, path, json={} if method == "POST" else None)
            return reply.status_code

    async def requests():
        return await asyncio.gather(*(send(*one) for one in asked))

    return concurrently(requests)


def test_requests_from_the_app_s_own_page_are_accepted(client, cache):
    content = {"data": [{"path": f"{cache}/a/clip.mp4", "url": f"{HERE}/x"}]}
    reply = post(client, content, origin=HERE)
    assert reply.status_code == 200 and f"{cache}/a/clip.mp4" in reply.json()["body"]
    assert client.get("/").status_code == 200


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "Multipart/Form-Data", None])
def test_web_address_in_a_json_body_is_refused_under_every_content_type(client, kind):
    headers = {"content-type": kind} if kind else {}
    body = rb'{"data": [{"p\u0061th": "http\u003a\/\/evil.example/x"}]}'
    reply = client.post("/run", content=body, headers=headers)
    assert reply.status_code == 422
    assert "Upload the file" in reply.json()["detail"][0]["message"]
    assert client.post("/run", content=b"x" * (MAX_JSON + 1), headers=headers).status_code == 413


@pytest.mark.parametrize("at", [HERE, "https://proxy.example/gleanvid"])
def test_web_address_of_an_upload_is_replaced_by_its_path(client, at, cache):
    reply = post(client, {"data": [{"path": f"{at}/gradio_api/file={cache}/a/a%20clip.mp4"}]})
    assert json.loads(reply.json()["body"]) == {"data": [{"path": f"{cache}/a/a clip.mp4"}]}
    hidden = {"path": f"{at}/gradio_api/file=http://evil.example/x"}
    assert post(client, hidden).status_code == 422


def test_every_response_has_the_security_headers(client):
    for reply in (client.get("/"), post(client, {}, origin="http://evil.example")):
        assert "frame-ancestors 'self'" in reply.headers["content-security-policy"]
        assert reply.headers["x-content-type-options"] == "nosniff"
    framed = visiting(guarded(framed_by=" https://a.example")).get("/")
    policy = framed.headers["content-security-policy"]
    assert policy.endswith("frame-ancestors 'self' https://a.example")


@pytest.mark.parametrize(
    "kinds",
    [
        [],
        ["multipart/form-data"],
        ["application/json"],
        [f"multipart/form-data; boundary={300 * 'x'}"],
        ["multipart/form-data; boundary=x; charset=punycode"],
        ["multipart/form-data; boundary=x", "multipart/form-data; boundary=y"],
    ],
    ids=str,
)
def test_upload_without_exactly_one_valid_multipart_content_type_is_refused(client, kinds):
    headers = [("content-type", kind) for kind in kinds]
    assert client.post(guard.UPLOAD, content=b"x", headers=headers).status_code == 400


def test_upload_may_exceed_the_size_limit_of_json_but_its_url_must_be_short(client):
    sent = client.post(f"{guard.UPLOAD}?upload_id=a", files={"files": b"x" * (MAX_JSON + 1)})
    assert sent.status_code == 200 and len(sent.json()["body"]) > MAX_JSON
    for path in ("upload", "upload_progress"):
        long = f"{GRADIO}/{path}?upload_id={'x' * 400}"
        assert client.post(long, files={"files": b"x"}).status_code == 414
    assert client.get("/?question=" + "x" * 400).status_code == 200


def test_uploads_without_length_or_without_disk_space_are_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    (tmp_path / "held").write_bytes(bytes(600))
    client = visiting(guarded(uploads=Uploads(2_000, 1_000)))

    def status(content, **headers):
        return client.post(guard.UPLOAD, content=content, headers=FORM | headers).status_code

    assert status(bytes(300)) == 200 and status(bytes(300)) == 507
    assert status(bytes(10), **{"content-length": "3000000"}) == 413
    assert status(iter([b"of no ", b"known length"])) == 411
    assert client.post("/run", json={"data": ["x" * 1_000]}).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "most"),
    [("POST", "/run", 2), ("GET", "/", 2), ("GET", "/info", 2 * guard.READS)],
)
def test_request_rate_of_one_visitor_is_limited(method, path, most):
    behind = guarded(requests_per_minute=2)
    for rate in behind.rates.values():
        rate.clock = lambda: 0.0
    one, other = visiting(behind, "2001:db8::1"), visiting(behind, "2001:db8:0:1::1")
    told = [one.request(method, path, json={}).status_code for _ in range(most + 1)]
    assert told == [200] * most + [429]
    assert visiting(behind, "2001:db8::2").request(method, path, json={}).status_code == 429
    assert other.request(method, path, json={}).status_code == 200


def test_running_events_of_one_visitor_are_limited_without_affecting_other_visitors():
    queued = ["2001:db8::1", "2001:db8::2"]
    behind = guarded(events=2, under_way=lambda: queued)
    client = visiting(behind, "2001:db8::7")
    assert post(client, {}).status_code == 429
    assert client.post(f"{GRADIO}/call/ask", json={}).status_code == 429
    assert client.post(f"{GRADIO}/cancel", json={}).status_code == 200
    assert post(visiting(behind, "2001:db8:0:1::1"), {}).status_code == 200
    queued.pop()
    assert post(client, {}).status_code == 200


def test_limit_of_running_events_holds_for_simultaneous_requests():
    asked = [("POST", f"{GRADIO}/call/ask", "1.2.3.4")] * 20
    behind = guarded(slow_application({}), events=3)
    assert sorted(statuses_of_simultaneous(behind, *asked)) == [200] * 3 + [429] * 17
    assert sorted(statuses_of_simultaneous(behind, *asked)) == [200] * 3 + [429] * 17


def slow_application(most):
    """Return a fake application that answers in 10 ms and records how many requests overlap."""
    now = {}

    async def app(scope, receive, send):
        for key in (scope["path"], scope["client"][0]):
            now[key] = now.get(key, 0) + 1
            most[key] = max(most.get(key, 0), now[key])
        await asyncio.sleep(0.01)
        for key in (scope["path"], scope["client"][0]):
            now[key] -= 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    return app


def test_concurrent_previews_are_limited_per_visitor_and_in_total(monkeypatch):
    monkeypatch.setattr(visitors, "PREVIEWS_SENT", 5)
    most = {}
    asked = [("POST", guard.PREDICT, f"1.2.3.{visitor}") for visitor in "1111111222333"]
    behind = guarded(slow_application(most), events=6)
    assert statuses_of_simultaneous(behind, *asked).count(429) == 2
    assert most["1.2.3.1"] == visitors.PREVIEWS and most[guard.PREDICT] == visitors.PREVIEWS_OF_ALL


def test_aborted_preview_frees_its_slot(monkeypatch):
    monkeypatch.setattr(visitors, "PREVIEWS_SENT", 1)

    async def fails(scope, receive, send):
        raise ValueError("broken off")

    behind = guarded(fails, events=6)
    for _ in range(2):
        answer = visiting(behind).post(guard.PREDICT, json={})
        assert answer.status_code == 500 and guard.FAULT in answer.text


def test_number_of_pages_rendered_at_once_is_limited_and_health_checks_do_not_wait():
    most = {}
    asked = [("GET", "/", "1.2.3.4")] * 20 + [("GET", "/healthz", "1.2.3.4")] * 20
    assert set(statuses_of_simultaneous(guarded(slow_application(most)), *asked)) == {200}
    assert most["/"] == guard.PAGES_AT_ONCE and most["/healthz"] == 20


def test_slow_download_of_the_page_does_not_block_other_visitors():
    scope = {"type": "http", "method": "GET", "path": "/", "scheme": "http", "query_string": b""}
    scope |= {"headers": [(b"host", b"localhost")], "server": ("localhost", 80)}
    scope["client"] = ("1.2.3.4", 1)

    async def requests():
        never, served = asyncio.Event(), []

        async def slow(message):
            await never.wait()

        async def quick(message):
            served.append(message["type"])

        behind = guarded(slow_application({}))
        waiting = [asyncio.create_task(behind(scope, None, slow)) for _ in range(5)]
        await asyncio.sleep(0)
        await asyncio.wait_for(behind(scope, None, quick), 20)
        for task in waiting:
            task.cancel()
        return served

    assert concurrently(requests) == ["http.response.start", "http.response.body"]


def test_websocket_connections_are_refused(client):
    with pytest.raises(Exception), client.websocket_connect("/"):  # noqa: B017, PT011
        pass
