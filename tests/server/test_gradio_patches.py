"""Each test shows a fault of unpatched ("stock") Gradio, and that our patch removes it.

If a test fails because Gradio has fixed the fault, delete the test and the patch in
``components/server/gradio_patches.py``.
"""

from __future__ import annotations

import logging
import os
import socket
import traceback
from urllib.parse import urlsplit

import gradio as gr
import httpx
import pytest
from gradio import networking, queueing, route_utils, routes, utils

from components.server import gradio_patches, serving
from components.server.allowed import FILE, GRADIO, PREDICT, UPLOAD
from components.server.gradio_patches import FilesOnly, GradioMultiPartParser
from components.server.visitors import VISITOR
from tests.server.running import running, wait_until


def answer(video: str, question: str) -> str:
    return question


CALL = f"{GRADIO}/call"


@pytest.fixture(scope="module")
def stock():
    """An unpatched Gradio application and its address."""
    with gr.Blocks() as page:
        gr.Textbox()
        gr.api(answer, api_name="ask")
        page.unload(lambda: None)
    options = {"quiet": True, "ssr_mode": False, "_frontend": False}
    app, url, _ = page.launch(prevent_thread_lock=True, **options)
    yield app, url.rstrip("/")
    page.close()


@pytest.fixture(scope="module")
def ours():
    """Our patched application and its address."""
    seen, patch = [], pytest.MonkeyPatch()
    apply = gradio_patches.apply
    patch.setattr(gradio_patches, "apply", lambda app: (seen.append(app), apply(app)))
    patch.setattr(serving, "SWEEP_S", 1e6)
    patch.setattr(route_utils, "GradioMultiPartParser", GradioMultiPartParser)
    for module in (routes, queueing):
        patch.setattr(module, "traceback", traceback)
    for module in (utils, queueing):
        patch.setattr(module, "error_payload", utils.error_payload)
    with running() as url:
        yield seen[0], url
    patch.undo()


def call(url, fetch=True):
    """Call the endpoint ``ask``; return the Gradio event's id. ``fetch``: wait for the result."""
    path = f"{serving.get_upload_folder()}/gone/gone.mp4"
    sent = httpx.post(f"{url}{CALL}/ask", json={"data": [{"path": path}, "What?"]})
    event = sent.json()["event_id"]
    if fetch:
        httpx.get(f"{url}{CALL}/ask/{event}")
    return event


def test_stock_gradio_starts_only_if_it_renders_a_page_in_time_and_ours_starts(monkeypatch):
    monkeypatch.setattr(networking, "url_ok", lambda url: False)
    with gr.Blocks() as page:
        gr.Textbox()
    with pytest.raises(ValueError, match="localhost is not accessible"):
        page.launch(prevent_thread_lock=True, quiet=True, ssr_mode=False)
    page.close()
    with running() as url:
        assert httpx.get(url, timeout=60).status_code == 200


def test_stock_gradio_keeps_a_widget_copy_per_api_call_and_our_patch_frees_it(stock, ours):
    event = call(stock[1])
    assert event in stock[0].state_holder and stock[0].state_holder["page"].config_values
    event = call(ours[1])
    sessions = ours[0].state_holder
    assert sessions["page1"].config_values == {}
    gradio_patches.forget(ours[0], 0.0)
    assert event not in sessions and "page1" in sessions
    assert list(sessions.time_last_used) == list(sessions.session_data)


def test_stock_gradio_continues_work_of_a_dropped_session_and_our_patch_ends_it(
    stock, ours, monkeypatch
):
    gone = []
    for app, _ in (stock, ours):
        fns = app.get_blocks().fns.values()
        unload = next(fn for fn in fns if any(kind == "unload" for _, kind in fn.targets))
        monkeypatch.setattr(unload, "fn", lambda user=None, app=app: gone.append(app))
        monkeypatch.setattr(app.state_holder, "capacity", 2)
        for number in range(4):
            assert app.state_holder[f"new{number}"]
        assert len(app.state_holder.session_data) <= 3
    assert gone and set(gone) == {ours[0]}


def test_invented_sessions_evict_other_visitors_in_stock_gradio_only(stock, ours, monkeypatch):
    for app, url in (stock, ours):
        sessions = app.state_holder
        monkeypatch.setattr(sessions, "capacity", len(sessions.session_data) + 5)
        before = VISITOR.set("another visitor")
        assert sessions["page of another"]
        VISITOR.reset(before)
        for number in range(sessions.capacity):
            sent = {"data": [], "fn_index": 0, "session_hash": f"made-up-{number}"}
            httpx.post(f"{url}{PREDICT}", json=sent)
        assert ("page of another" in sessions) is (app is ours[0])
        assert f"made-up-{number}" in sessions


def test_stock_gradio_keeps_unfetched_results_for_ever_and_our_patch_does_not(ours):
    app, url = ours
    call(url, fetch=False)
    queue = app.get_blocks()._queue
    assert wait_until(lambda: not queue.event_ids_to_events)
    gradio_patches.forget(app, 60.0)
    assert queue.pending_messages_per_session and queue.pending_event_ids_session
    gradio_patches.forget(app, 0.0)
    assert not queue.pending_messages_per_session and not queue.pending_event_ids_session


def test_stock_gradio_keeps_upload_progress_for_ever_and_our_patch_does_not(ours, monkeypatch):
    app, url = ours
    monkeypatch.setattr(gradio_patches, "UPLOADS", 2)
    for number in range(5):
        httpx.post(f"{url}{UPLOAD}?upload_id={number}", files={"files": ("a.mp4", b"x")})
    kept = gradio_patches.file_upload_statuses
    assert {"0", "4"} <= kept._statuses.keys()
    gradio_patches.forget(app)
    assert list(kept._statuses) == list(kept._signals) == ["3", "4"]


def test_stock_gradio_keeps_names_of_deleted_files_for_ever_and_our_patch_does_not(stock, ours):
    for (app, url), is_ours in ((stock, False), (ours, True)):
        path = httpx.post(url + UPLOAD, files={"files": ("a.mp4", b"x")}).json()[0]
        names = app.get_blocks().upload_file_set
        os.remove(path)
        gradio_patches.forget_files(ours[0])
        assert (path in names) is not is_ours


PART = b'--x\r\ncontent-disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
FILE_PART = PART % (b"files", b'; filename="a.mp4"', b"y" * 5000)


@pytest.mark.parametrize(
    "form",
    [
        PART % (b"files", b"", b"z" * 100_000),
        FILE_PART + PART % (b"question", b"", b"What?") + FILE_PART,
        FILE_PART * (gradio_patches.MOST_FILES + 1),
        PART % (b"video", b'; filename="a.mp4"', b"y"),
    ],
    ids=["field", "field between files", "many files", "name of another field"],
)
def test_stock_gradio_accepts_unexpected_upload_fields_and_our_patch_refuses_them(
    stock, ours, form, monkeypatch
):
    kind = {"content-type": "multipart/form-data; boundary=x"}
    with monkeypatch.context() as patch:
        patch.setattr(route_utils, "GradioMultiPartParser", GradioMultiPartParser)
        told = httpx.post(stock[1] + UPLOAD, content=form + b"--x--\r\n", headers=kind)
        assert told.status_code in (200, 500)  # 500 if Gradio fails after it has read the body
    before = files()
    told = httpx.post(ours[1] + UPLOAD, content=form + b"--x--\r\n", headers=kind)
    assert told.status_code == 400 and files() == before


@pytest.mark.parametrize("is_ours", [False, True])
def test_stock_gradio_leaves_the_file_of_a_broken_upload_and_our_patch_deletes_it(
    stock, ours, is_ours, monkeypatch
):
    parser = FilesOnly if is_ours else GradioMultiPartParser
    monkeypatch.setattr(route_utils, "GradioMultiPartParser", parser)
    parts, before = urlsplit((ours if is_ours else stock)[1]), files()
    with socket.create_connection((parts.hostname, parts.port)) as line:
        line.sendall(f"POST {UPLOAD} HTTP/1.1\r\nhost: localhost\r\n".encode())
        line.sendall(b"content-type: multipart/form-data; boundary=x\r\n")
        line.sendall(b"content-length: 100000\r\n\r\n" + FILE_PART)
        assert wait_until(lambda: files() != before)
    assert wait_until(lambda: files() == before, 20.0 if is_ours else 1.0) is is_ours


def files():
    return set(os.listdir(serving.get_upload_folder()))


def test_stock_gradio_repeats_request_headers_in_partial_responses_and_our_patch_does_not(
    stock, ours
):
    for url, is_ours in ((stock[1], False), (ours[1], True)):
        path = httpx.post(url + UPLOAD, files={"files": ("a.mp4", bytes(100))}).json()[0]
        sent = {"range": "bytes=0-1", "set-cookie": "a=b", "x-own": "c"}
        reply = httpx.get(f"{url}{FILE}{path}", headers=sent)
        assert reply.status_code == 206 and len(reply.content) == 2
        assert bool({"set-cookie", "x-own"} & set(reply.headers)) is not is_ours
        many = httpx.get(f"{url}{FILE}{path}", headers={"range": "bytes=" + "0-1," * 500})
        assert not is_ours or many.status_code == 200


def test_stock_gradio_trusts_foreign_origin_and_server_headers_and_our_patch_does_not(stock, ours):
    foreign = {"host": "evil.example", "origin": "http://other.example"}
    told = httpx.get(f"{stock[1]}/config", headers=foreign)
    assert told.headers["access-control-allow-origin"] == foreign["origin"]
    assert httpx.get(f"{ours[1]}/config", headers=foreign).status_code == 400
    named = {"x-gradio-server": "http://evil.example"}
    assert "evil" in httpx.get(f"{stock[1]}/config", headers=named).text
    assert "evil" not in httpx.get(f"{ours[1]}/config", headers=named).text


def test_stock_gradio_logs_unknown_sessions_with_traceback_and_ours_does_not(stock, ours, caplog):
    for url, is_ours in ((ours[1], True), (stock[1], False)):
        with caplog.at_level(logging.ERROR), pytest.raises(httpx.HTTPError):
            httpx.get(f"{url}{GRADIO}/queue/data?session_hash=nobody").raise_for_status()
        assert any(record.exc_info for record in caplog.records) is not is_ours


JUNK = "\x1b]0;forged\nline"


def test_stock_gradio_logs_the_input_of_a_failed_event_and_our_patch_does_not(
    stock, ours, capfd, caplog, monkeypatch
):
    # Failures of earlier tests may have used up the number of log lines per minute.
    monkeypatch.setattr(gradio_patches.FAILURE_LOG, "_begun", -1e9)
    for (_, url), is_ours in ((ours, True), (stock, False)):
        with pytest.MonkeyPatch.context() as patch:
            if not is_ours:
                patch.setattr(queueing, "traceback", traceback)
                patch.setattr(queueing, "error_payload", gradio_patches.stock_payload)
            name = httpx.post(f"{url}{CALL}/ask", json={"data": [JUNK]}).json()["event_id"]
            told = httpx.get(f"{url}{CALL}/ask/{name}").text
        assert (gradio_patches.UNFIT if is_ours else '"error": null') in told
        assert ("Traceback" in capfd.readouterr().err) is not is_ours
    (line,) = [
        record.getMessage() for record in caplog.records if "A request failed" in record.message
    ]
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
