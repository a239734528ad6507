"""Invalid requests are answered with a sentence, and leave at most a short line in the log."""

import errno
import json
import logging

import httpx
import pytest
from gradio.route_utils import GradioUploadFile

from tests.components.server.running import running, upload

JSON = {"content-type": "application/json"}
FORGED = "\u001b[31mFORGED\nERROR: forged line"


@pytest.fixture(scope="module")
def address():
    with running() as url:
        yield url


@pytest.mark.parametrize(
    ("method", "path", "body", "sentence"),
    [
        ("POST", "/gradio_api/call/v2/ask", {FORGED * 5000: 1}, "A value of this request"),
        ("POST", "/gradio_api/run/predict", {"fn_index": -1, "data": []}, "A value of this re"),
        ("POST", "/gradio_api/run/predict", {"trigger_id": float("inf")}, "The body of the requ"),
        ("GET", "/?page=x", None, "A value of this request"),
    ],
)
def test_invalid_request_is_answered_with_a_sentence_and_logged_briefly(
    address, caplog, method, path, body, sentence
):
    with caplog.at_level(logging.INFO):
        content = None if body is None else json.dumps(body)
        answer = httpx.request(method, address + path, content=content, headers=JSON, timeout=20)
    assert answer.status_code >= 400 and answer.text.startswith(sentence)
    lines = [record for record in caplog.records if record.name != "httpx"]
    assert not any(record.exc_info for record in lines)
    logged = "".join(record.getMessage() for record in lines)
    assert len(logged) < 1000 and "\x1b" not in logged and "\n" not in logged


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd", "../../../etc/passwd", "app.py", ".git/config", "assets/../app.py",
        "/proc/self/environ", "http://127.0.0.1:1/x", "//a.example/x", "%00", "/tmp",
    ],
)  # fmt: skip
def test_files_other_than_uploads_and_assets_are_not_served(address, path):
    reply = httpx.get(f"{address}/gradio_api/file={path}", timeout=20)
    assert reply.status_code >= 400 and len(reply.content) < 200


def test_disk_full_during_an_upload_is_answered_with_a_sentence(address, monkeypatch):
    async def full(self, data):
        raise OSError(errno.ENOSPC, "No space left on device", "/secret")

    monkeypatch.setattr(GradioUploadFile, "write", full)
    answer = upload(address, b"x")
    assert (answer.status_code, answer.text) == (507, "The disk is full. Retry when it has room.")
