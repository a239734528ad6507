"""What ``deploy/`` promises, tried with the real nginx on this machine."""

import asyncio
import socket
import threading
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn
import yaml
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from components.server import serving
from tests.components.fake import write_clip
from tests.components.server.running import answered, ask, running, upload, wait_until
from tests.deploy.nginx import DEPLOY, free_port, nginx


async def count(request: Request) -> StreamingResponse:
    async def numbers():
        for number in range(3):
            yield f"{number}\n"
            while not request.app.state.go_on.is_set():
                await asyncio.sleep(0.01)

    return StreamingResponse(numbers())


async def taken(request: Request) -> JSONResponse:
    return JSONResponse({"bytes": len(await request.body()), "headers": dict(request.headers)})


@pytest.fixture(scope="module")
def stand_in():
    """A small server: its address, and an event that lets ``/count`` go on."""
    paths = Route("/{rest:path}", taken, methods=["GET", "POST"])
    app = Starlette(routes=[Route("/count", count), paths])
    app.state.go_on = threading.Event()
    server = uvicorn.Server(uvicorn.Config(app, port=free_port(), log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    assert wait_until(lambda: server.started)
    yield f"http://127.0.0.1:{server.config.port}", app.state.go_on
    server.should_exit = True


@pytest.fixture(scope="module")
def proxied(stand_in, tmp_path_factory, pytestconfig):
    with nginx(stand_in[0], tmp_path_factory.mktemp("nginx"), pytestconfig) as url:
        yield url


def test_answers_stream_unbuffered(proxied, stand_in):
    with httpx.stream("GET", f"{proxied}/count", timeout=20) as reply:
        lines = reply.iter_lines()
        assert next(lines) == "0"  # while the server waits
        stand_in[1].set()
        assert list(lines) == ["1", "2"]


def test_only_uploads_may_be_large(proxied):
    def status(path, size):
        return httpx.post(proxied + path, content=bytes(size), timeout=60).status_code

    assert status("/gradio_api/queue/join", 200_000) == 200
    assert status("/gradio_api/queue/join", 300_000) == 413
    assert status("/gradio_api/upload", 2_000_000) == 200
    head = f"POST /gradio_api/upload HTTP/1.1\r\nhost: a\r\ncontent-length: {210 * 2**20}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", urlsplit(proxied).port), timeout=15) as line:
        line.sendall(head.encode())
        assert b" 413 " in line.recv(100)


def test_visitor_and_host_are_forwarded_and_forged_ones_are_not(proxied):
    forged = {"x-forwarded-for": "6.6.6.6", "x-forwarded-proto": "https"}
    seen = httpx.get(f"{proxied}/x", headers=forged).json()["headers"]
    assert seen["x-forwarded-for"] == "127.0.0.1" and seen["x-forwarded-proto"] == "http"
    assert f"http://{seen['host']}" == proxied


def test_slow_headers_bodies_and_idle_connections_are_cut(stand_in, tmp_path, pytestconfig):
    short = {
        f"client_{part}_timeout .*s;": f"client_{part}_timeout 1s;" for part in ("header", "body")
    }
    head = b"POST /gradio_api/upload HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n"
    with nginx(stand_in[0], tmp_path, pytestconfig, short) as url:
        for begun in (b"", b"GET / HTTP/1.1\r\nhost: a", head, head + b"x" * 10):
            with socket.create_connection(("127.0.0.1", urlsplit(url).port), timeout=15) as line:
                line.sendall(begun)
                with suppress(ConnectionResetError):
                    assert not line.recv(1000).startswith(b"HTTP/1.1 200")


def test_headers_beyond_the_limit_are_refused(proxied):
    assert httpx.get(proxied, headers={"x-long": "a" * 10_000}).status_code == 400
    many = {f"x-{number}": "a" * 100 for number in range(1000)}
    assert httpx.get(proxied, headers=many).status_code == 400


def test_requests_and_connections_of_one_visitor_are_limited(stand_in, tmp_path, pytestconfig):
    few = {"rate=10r/s": "rate=1r/s", "burst=40": "burst=2", "connections 40": "connections 2"}
    with nginx(stand_in[0], tmp_path, pytestconfig, few) as url:
        with httpx.Client(base_url=url) as client:
            assert [client.post("/x").status_code for _ in range(5)] == [200] * 3 + [429] * 2
            assert client.get("/x").status_code == 200
        stand_in[1].clear()
        counting = [httpx.stream("GET", f"{url}/count", timeout=20) for _ in range(2)]
        with counting[0] as one, counting[1] as two:
            assert one.status_code == two.status_code == 200
            assert httpx.get(f"{url}/x").status_code == 429
            stand_in[1].set()


def test_page_and_endpoint_of_the_public_app_work_behind_nginx(tmp_path, pytestconfig):
    write_clip(tmp_path / "clip.mp4")
    public = running(serving.PUBLIC, proxies=["127.0.0.1"])
    with public as url, nginx(url, tmp_path, pytestconfig) as address:
        page = httpx.get(address, timeout=60)
        assert page.status_code == 200 and "GleanVID" in page.text
        path = upload(address, (tmp_path / "clip.mp4").read_bytes()).json()[0]
        assert "event: complete" in answered(address, ask(address, path))
        own = httpx.post(f"{address}/gradio_api/cancel", json={}, headers={"origin": address})
        assert own.status_code not in (400, 403)  # the proxy passes on the page's own host


def test_containers_have_no_privileges_and_the_app_has_no_way_out():
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services, networks = compose["services"], compose["networks"]
    for name in ("proxy", "app"):
        service = services[name]
        assert service["read_only"] is True and service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["mem_limit"] and service["pids_limit"] and "privileged" not in service
    app = services["app"]
    assert app["networks"] == ["inside"] and "ports" not in app
    assert networks["inside"]["internal"] is True
    assert "--public" in app["command"]
    subnet = networks["inside"]["ipam"]["config"][0]["subnet"]
    assert app["command"][app["command"].index("--trusted-proxy") + 1] == subnet
    mounted = {volume.partition(":")[0] for volume in app["volumes"]}
    assert mounted == set(compose["volumes"])
