"""Each test shows a fault of unpatched ("stock") Gradio, and that our patch removes it.

If a test fails because Gradio has fixed the fault, delete the test and the patch in
``components/server/gradio_patches.py``.
"""

from __future__ import annotations

import os
import traceback

import gradio as gr
import httpx
import pytest
from gradio import networking, queueing, route_utils, routes

from components.server import gradio_patches
from components.server.allowed import GRADIO, UPLOAD
from components.server.gradio_patches import GradioMultiPartParser
from tests.server.running import running, upload


def answer(video: str, question: str) -> str:
    return question


CALL = f"{GRADIO}/call/ask"


@pytest.fixture(scope="module")
def stock():
    """Address of a Gradio application without our request checks."""
    with gr.Blocks() as page:
        gr.Textbox()
        gr.api(answer, api_name="ask")
    options = {"quiet": True, "ssr_mode": False, "_frontend": False}
    _, url, _ = page.launch(prevent_thread_lock=True, **options)
    yield url.rstrip("/")
    page.close()


@pytest.fixture(scope="module")
def ours():
    with running() as url:
        yield url


@pytest.fixture
def unpatched(monkeypatch):
    for module in (routes, queueing):
        monkeypatch.setattr(module, "traceback", traceback)
    monkeypatch.setattr(route_utils, "GradioMultiPartParser", GradioMultiPartParser)


@pytest.fixture
def patched(monkeypatch):
    for module in (routes, queueing):
        monkeypatch.setattr(module, "traceback", gradio_patches.FAILURE_LOG)
    monkeypatch.setattr(route_utils, "GradioMultiPartParser", gradio_patches.FilesOnly)
    # Failures of earlier tests may have used up the number of log lines per minute.
    monkeypatch.setattr(gradio_patches.FAILURE_LOG, "_begun", -1e9)


def test_stock_gradio_starts_only_if_it_renders_a_page_in_time_and_ours_starts(monkeypatch):
    monkeypatch.setattr(networking, "url_ok", lambda url: False)
    with gr.Blocks() as page:
        gr.Textbox()
    with pytest.raises(ValueError, match="localhost is not accessible"):
        page.launch(prevent_thread_lock=True, quiet=True, ssr_mode=False)
    page.close()
    with running() as url:
        assert httpx.get(url, timeout=60).status_code == 200


PART = b'--x\r\ncontent-disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
FILE_PART = PART % (b"files", b'; filename="a.mp4"', b"y" * 5000)
FORMS = [PART % (b"files", b"", b"z" * 100_000), FILE_PART * (gradio_patches.MOST_FILES + 1)]


def sent(url, form):
    kind = {"content-type": "multipart/form-data; boundary=x"}
    return httpx.post(url + UPLOAD, content=form + b"--x--\r\n", headers=kind).status_code


@pytest.mark.parametrize("form", FORMS, ids=["field", "many files"])
def test_stock_gradio_reads_text_fields_and_many_files(stock, unpatched, form):
    assert sent(stock, form) in (200, 500)  # 500 if Gradio fails after it has read the body


@pytest.mark.parametrize("form", FORMS, ids=["field", "many files"])
def test_our_patch_refuses_text_fields_and_many_files(ours, patched, form):
    assert sent(ours, form) == 400


def test_stock_gradio_names_an_upload_by_its_content(stock, unpatched):
    first, second = (upload(stock, b"x" * 100).json()[0] for _ in range(2))
    assert os.path.basename(first) == "100.mp4" and first == second


JUNK = "\x1b]0;forged\nline"


def junk(url):
    event = httpx.post(url + CALL, json={"data": [JUNK]}).json()["event_id"]
    assert "error" in httpx.get(f"{url}{CALL}/{event}").text


def test_stock_gradio_logs_a_failed_event_with_a_traceback(stock, unpatched, capfd):
    junk(stock)
    assert "Traceback" in capfd.readouterr().err


def test_our_patch_logs_a_failed_event_as_one_short_line(ours, patched, capfd, caplog):
    junk(ours)
    assert "Traceback" not in capfd.readouterr().err
    (line,) = [text for text in caplog.messages if "A request failed" in text]
    assert len(line) < 400 and line.isprintable()


def test_number_of_failures_logged_per_minute_is_limited(caplog):
    failures = gradio_patches.FailureLog()
    for _ in range(1000):
        try:
            raise ValueError(JUNK * 10_000)
        except ValueError:
            failures.print_exc()
    text = caplog.text
    assert text.count("A request failed") == gradio_patches.FAILURES and len(text) < 50_000
    assert "\x1b" not in text and "not logged" in text
