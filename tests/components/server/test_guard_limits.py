"""What one visitor may take of the server, at the guard."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.testclient import TestClient

from components.server import guard
from components.server.disk import Uploads
from components.server.guard import Guard
from tests.components.server.test_guard import ANY, echo, post


@pytest.fixture(scope="module")
def client():
    routes = [Route("/{rest:path}", echo, methods=["GET", "POST"])]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(Guard, routes=ANY)]))


def test_addresses_of_one_network_share_their_rate():
    async def answer(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def requests():
        told, limited = [], Guard(answer, requests_per_minute=1)

        async def heard(message):
            if message["type"] == "http.response.start":
                told.append(message["status"])

        for address in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "1.2.3.4", "1.2.3.5"):
            await limited({**asked("/"), "client": (address, 1)}, None, heard)
        return told

    assert crowd(requests) == [200, 429, 200, 200, 200]


def crowd(requests):
    """The outcome of a coroutine in a loop of its own: Playwright leaves one in this thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, requests()).result()


def asked(path):
    headers, server = [(b"host", b"localhost")], ("localhost", 80)
    scope = {"type": "http", "method": "GET", "path": path, "scheme": "http", "query_string": b""}
    return {**scope, "headers": headers, "server": server}


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


def test_there_are_no_websockets():
    told = []

    async def opened(scope, receive, send):
        raise AssertionError("a websocket was opened")

    async def requests():
        async def send(message):
            told.append(message)

        await Guard(opened)({"type": "websocket", "path": "/", "headers": []}, None, send)

    crowd(requests)
    assert told == [{"type": "websocket.close"}]


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
