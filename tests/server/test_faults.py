import errno
import json
import logging
import socket
import time
from urllib.parse import urlsplit

import httpx
import pytest
from gradio.route_utils import GradioUploadFile
from starlette.applications import Starlette
from starlette.testclient import TestClient

from components.server import routes
from tests.server.running import running

JSON = {"content-type": "application/json"}
FORGED = "\u001b[31mFORGED\nERROR: forged line"


@pytest.fixture(scope="module")
def address():
    with running() as url:
        yield url


@pytest.mark.parametrize(
    ("method", "path", "body", "sentence"),
    [
        ("POST", "/gradio_api/call/v2/ask", {}, "A value of this request cannot be used"),
        ("POST", "/gradio_api/call/v2/ask", {FORGED * 5000: 1}, "A value of this request"),
        (
            "POST",
            "/gradio_api/run/predict",
            {"trigger_id": float("inf")},
            "The body of the request is not valid JSON",
        ),
        ("GET", "/?page=x", None, "There is nothing at this address"),
        ("GET", "/gradio_api/call/ask/%00", None, "There is nothing at this address"),
    ],
)
def test_invalid_request_is_answered_with_a_sentence_and_logged_briefly(
    address, caplog, method, path, body, sentence
):
    with caplog.at_level(logging.INFO):
        content = None if body is None else json.dumps(body)
        answer = httpx.request(method, address + path, content=content, headers=JSON, timeout=20)
    assert 400 <= answer.status_code < 500 and answer.text.startswith(sentence)
    lines = [record for record in caplog.records if record.name != "httpx"]
    assert not any(record.exc_info for record in lines)
    logged = "".join(record.getMessage() for record in lines)
    assert len(logged) < 1000 and "\x1b" not in logged and "\n" not in logged


def test_documentation_url_without_trailing_slash_is_redirected(address):
    answer = httpx.get(f"{address}/docs")
    # The redirect's target is relative, as a proxy may serve the app under a path.
    assert answer.is_redirect and answer.headers["location"] == "docs/"


def test_documentation_that_is_not_built_is_not_found(tmp_path, monkeypatch):
    monkeypatch.setattr(routes, "DOCS", tmp_path / "missing")
    client = TestClient(Starlette(routes=routes.own()))
    assert [client.get(path).status_code for path in ("/docs/", "/docs/x")] == [404, 404]


def test_disk_full_during_an_upload_is_answered_with_a_sentence(address, monkeypatch):
    async def full(self, data):
        raise OSError(errno.ENOSPC, "No space left on device", "/secret")

    monkeypatch.setattr(GradioUploadFile, "write", full)
    files = {"files": ("a.mp4", b"x")}
    answer = httpx.post(f"{address}/gradio_api/upload", files=files)
    assert (answer.status_code, answer.text) == (507, "The disk is full. Retry when it has room.")


@pytest.mark.parametrize("count", [0, 3])
def test_gradio_event_with_a_wrong_number_of_values_is_answered_with_a_sentence(address, count):
    call = f"{address}/gradio_api/call/ask"
    event = httpx.post(call, json={"data": [None] * count}).json()["event_id"]
    assert "cannot be used: it is missing" in httpx.get(f"{call}/{event}").text


@pytest.mark.parametrize("path", ["/nothing", "/gradio_api/run/predict"])
@pytest.mark.parametrize(
    "waits", [True, False]
)  # whether the client waits for a reply before it sends the body
def test_malformed_request_body_leaves_at_most_one_short_log_line(address, caplog, path, waits):
    host = urlsplit(address)
    head = f"POST {path} HTTP/1.1\r\nHost: {host.netloc}\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection((host.hostname, host.port), timeout=5) as visitor:
        visitor.sendall(head.encode() if waits else f"{head}ZZZ\r\n".encode())
        if waits:
            time.sleep(0.3)
            visitor.sendall(b"ZZZ\r\n")
        answer = visitor.recv(1000)
        while visitor.recv(1000):
            pass
    assert answer.startswith(b"HTTP/1.1 40")
    assert not any(record.exc_info for record in caplog.records)
    assert len("".join(record.getMessage() for record in caplog.records)) < 100
