"""Who sends nothing is not waited for, and what an upload leaves behind goes."""

from __future__ import annotations

import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import SimpleNamespace
from urllib.parse import urlsplit

import httpx
import pytest

from components.server import connections, disk, serving
from components.server.disk import Uploads
from components.server.hosts import Hosts
from tests.server.running import running


@pytest.fixture(scope="module")
def address():
    patch = pytest.MonkeyPatch()
    patch.setattr(connections, "HEAD_S", 0.6)
    patch.setattr(connections, "CHECK_S", 0.3)
    patch.setattr(serving, "SWEEP_S", 0.3)
    patch.setattr(disk, "BROKEN_S", 0.5)
    with running() as url:
        yield url
    patch.undo()


def connected(address):
    parts = urlsplit(address)
    return socket.create_connection((parts.hostname, parts.port), timeout=10)


def ended(line, within_s=5.0):
    """Whether the server ends this connection in time."""
    line.settimeout(within_s)
    try:
        return line.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


BODY = b"POST /gradio_api/upload HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n"
BODY += b"content-type: multipart/form-data; boundary=x\r\n\r\n"
FORM = b'--x\r\ncontent-disposition: form-data; name="files"; filename="a.mp4"\r\n\r\n'


@pytest.mark.parametrize(
    "begun", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: a", BODY, BODY + FORM]
)
def test_a_request_that_does_not_go_on_is_ended(address, begun):
    with connected(address) as line:
        line.sendall(begun)
        assert ended(line)


def test_a_head_that_trickles_is_ended(address):
    with connected(address) as line:
        line.sendall(b"GET / HTTP/1.1\r\n")
        for _ in range(20):
            with suppress(ConnectionError):
                line.sendall(b"a: b\r\n")
            time.sleep(0.1)
        assert ended(line, 0.1)


@pytest.mark.alone
def test_a_body_that_comes_steadily_is_waited_for(address):
    with connected(address) as line:
        line.sendall(BODY.replace(b"100000", b"9000") + FORM)
        for _ in range(10):  # twice as fast as it has to
            line.sendall(b"x" * 400)
            time.sleep(0.2)
        line.sendall(b"x" * (9000 - 4000 - len(FORM)))
        assert line.recv(12).startswith(b"HTTP/1.1 ")


def test_a_visitor_has_so_many_connections_and_no_more(address, monkeypatch):
    monkeypatch.setattr(connections, "PER_VISITOR", 3)
    time.sleep(1.5)  # those of the other tests are gone
    lines = [connected(address) for _ in range(5)]
    assert lines[-1].recv(12) == b"HTTP/1.1 503"
    for line in lines:
        line.close()
    time.sleep(0.2)
    assert httpx.get(f"{address}/healthz").status_code == 200


UPGRADE = b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
UPGRADE += b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n"


def test_no_protocol_for_websockets_is_left():
    """Uvicorn has one where the package ``websockets`` is installed."""
    config = SimpleNamespace(ws_protocol_class=object, app="the application")
    connections.watch(SimpleNamespace(config=config), Hosts())
    assert config.ws_protocol_class is None and config.loaded_app == config.app


def test_an_upgrade_takes_no_connection_for_good(address, monkeypatch):
    monkeypatch.setattr(connections, "PER_VISITOR", 3)
    time.sleep(1.5)  # those of the other tests are gone
    for _ in range(5):
        with connected(address) as line:
            line.sendall(UPGRADE)
            assert line.recv(12) == b"HTTP/1.1 200"  # as if it had not asked for one
        time.sleep(0.1)
    assert httpx.get(f"{address}/healthz").status_code == 200


def test_an_aborted_upload_leaves_nothing_behind(address):
    folder = disk.Path(disk.get_upload_folder())
    before = set(os.listdir(folder)) if folder.is_dir() else set()
    with connected(address) as line:
        line.sendall(BODY + FORM + b"x" * 50_000)
        time.sleep(0.2)
    end = time.monotonic() + 5
    while time.monotonic() < end and set(os.listdir(folder)) - before:
        time.sleep(0.1)
    assert not set(os.listdir(folder)) - before


def test_the_files_of_an_upload_under_way_stay(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    monkeypatch.setattr(disk, "BROKEN_S", 0.0)
    uploads = Uploads(1000, 0)
    with uploads.under_way():
        (tmp_path / "tmp1").touch()
        uploads.sweep()
        assert (tmp_path / "tmp1").exists()
    time.sleep(0.05)  # clocks of file systems are coarse
    uploads.sweep()
    assert not (tmp_path / "tmp1").exists()


@pytest.mark.alone
def test_monitors_are_answered_under_a_hundred_requests(address):
    with ThreadPoolExecutor(100) as crowd, httpx.Client(timeout=60) as client:
        asked = [crowd.submit(client.get, address) for _ in range(100)]
        start = time.monotonic()
        assert httpx.get(f"{address}/healthz").status_code == 200
        took = time.monotonic() - start
        assert {reply.result().status_code for reply in asked} == {200}
    assert took < 1.0
