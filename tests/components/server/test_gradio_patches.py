"""What ``components/server/gradio_patches.py`` changes in Gradio."""

import httpx
import pytest
from gradio import networking

from components.jobs import failures
from components.server import gradio_patches
from components.server.allowed import GRADIO, UPLOAD
from tests.components.server.running import running

CALL = f"{GRADIO}/call/ask"


@pytest.fixture(scope="module")
def ours():
    with running() as url:
        yield url


def test_server_starts_even_if_its_page_is_not_rendered_in_time(monkeypatch):
    monkeypatch.setattr(networking, "url_ok", lambda url: False)
    with running() as url:
        assert httpx.get(url, timeout=60).status_code == 200


PART = b'--x\r\ncontent-disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
FILE_PART = PART % (b"files", b'; filename="a.mp4"', b"y" * 5000)
FORMS = [PART % (b"files", b"", b"z" * 100_000), FILE_PART * (gradio_patches.MOST_FILES + 1)]


def sent(url, form):
    kind = {"content-type": "multipart/form-data; boundary=x"}
    return httpx.post(url + UPLOAD, content=form + b"--x--\r\n", headers=kind).status_code


@pytest.mark.parametrize("form", FORMS, ids=["field", "many files"])
def test_text_fields_and_many_files_are_refused(ours, form):
    assert sent(ours, form) == 400


JUNK = "\x1b]0;forged\nline"


def junk(url):
    event = httpx.post(url + CALL, json={"data": [JUNK]}).json()["event_id"]
    assert "error" in httpx.get(f"{url}{CALL}/{event}").text


def test_failed_event_is_logged_as_one_short_line(ours, monkeypatch, capfd, caplog):
    # Failures of earlier tests may have used up the number of log lines per minute.
    monkeypatch.setattr(failures.FAILURE_LOG, "_begun", -1e9)
    junk(ours)
    assert "Traceback" not in capfd.readouterr().err
    (line,) = [text for text in caplog.messages if "A request failed" in text]
    assert len(line) < 400 and line.isprintable()
