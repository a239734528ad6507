from __future__ import annotations

import resource
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import pytest

from components.server import connections
from tests.server.running import running


@pytest.fixture(scope="module")
def address():
    patch = pytest.MonkeyPatch()
    patch.setattr(connections, "HEAD_S", 0.6)
    patch.setattr(connections, "CHECK_S", 0.3)
    with running() as url:
        yield url
    patch.undo()


def connected(address):
    parts = urlsplit(address)
    return socket.create_connection((parts.hostname, parts.port), timeout=10)


def is_closed_by_server(line, within_s=5.0):
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
def test_request_that_stalls_is_ended(address, begun):
    with connected(address) as line:
        line.sendall(begun)
        assert is_closed_by_server(line)


def test_request_whose_headers_arrive_too_slowly_is_ended(address):
    with connected(address) as line:
        line.sendall(b"GET / HTTP/1.1\r\n")
        for _ in range(20):
            with suppress(ConnectionError):
                line.sendall(b"a: b\r\n")
            time.sleep(0.1)
        assert is_closed_by_server(line, 0.1)


@pytest.mark.alone
def test_request_body_over_the_time_limit_is_ended_even_if_it_arrives_steadily(
    address, monkeypatch
):
    monkeypatch.setattr(connections, "BODY_S", 1.0)
    with connected(address) as line:
        line.sendall(BODY + FORM)
        for _ in range(12):
            with suppress(ConnectionError):
                line.sendall(b"x" * 400)
            time.sleep(0.2)
        assert is_closed_by_server(line, 0.1)


@pytest.mark.alone
def test_request_body_that_arrives_steadily_in_time_is_accepted(address):
    with connected(address) as line:
        line.sendall(BODY.replace(b"100000", b"9000") + FORM)
        for _ in range(10):  # sends at twice the lowest allowed rate
            line.sendall(b"x" * 400)
            time.sleep(0.2)
        line.sendall(b"x" * (9000 - 4000 - len(FORM)))
        assert line.recv(12).startswith(b"HTTP/1.1 ")


UPGRADE = b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
UPGRADE += b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n"


def test_connections_of_one_visitor_are_limited_and_websocket_requests_leave_none_open(
    address, monkeypatch
):
    monkeypatch.setattr(connections, "HEAD_S", 60)
    monkeypatch.setattr(connections, "PER_VISITOR", 3)
    time.sleep(1.5)  # wait until connections of other tests are closed
    lines = [connected(address) for _ in range(5)]
    assert lines[-1].recv(12) == b"HTTP/1.1 503"
    for line in lines:
        line.close()
    for _ in range(5):
        time.sleep(0.2)
        with connected(address) as line:
            line.sendall(UPGRADE)
            assert line.recv(12) == b"HTTP/1.1 200"  # not 101: no WebSocket is opened
    time.sleep(0.2)
    assert httpx.get(f"{address}/healthz").status_code == 200


@pytest.mark.alone
def test_health_check_is_answered_before_earlier_requests_of_the_page(address, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_S", 10)
    with ThreadPoolExecutor(100) as crowd, httpx.Client(timeout=60) as client:
        asked = [crowd.submit(client.get, address) for _ in range(100)]
        before = sum(reply.done() for reply in asked)
        assert httpx.get(f"{address}/healthz", timeout=60).status_code == 200
        after = sum(reply.done() for reply in asked)
        assert {reply.result().status_code for reply in asked} == {200}
    # up to 9 if two pages are rendered at a time, 17 or more if all are
    assert before < 80 and after - before < 15


def test_total_connections_are_limited_below_the_file_descriptor_limit(monkeypatch):
    monkeypatch.setattr(connections, "HEAD_S", 60)
    most = connections.raise_descriptors()
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= most >= 256
    patch = pytest.MonkeyPatch()
    patch.setattr(connections, "raise_descriptors", lambda: 8)
    with running() as url:
        patch.undo()
        lines = [connected(url) for _ in range(6)]
        assert lines[-1].recv(12) == b"HTTP/1.1 503"
        for line in lines:
            line.close()
        time.sleep(0.5)
        assert httpx.get(f"{url}/healthz").status_code == 200
