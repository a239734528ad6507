"""What is kept of every session and call stays within bounds."""

from __future__ import annotations

import httpx
import pytest
from gradio.route_utils import delete_files_created_by_app

from components.server import sessions
from tests.server.running import running


@pytest.fixture(scope="module")
def served():
    """The address of an app, and the app."""
    seen = []
    patch = pytest.MonkeyPatch()
    patch.setattr(sessions, "SESSIONS", 5)
    bound = sessions.bound
    patch.setattr(sessions, "bound", lambda app: (seen.append(app), bound(app)))
    with running() as url:
        yield url, seen[0]
    patch.undo()


def call(url):
    """A call of an endpoint that fails; its events."""
    data = [{"path": "/no/upload"}, "What?"]
    begun = httpx.post(f"{url}/gradio_api/call/ask", json={"data": data}).json()["event_id"]
    return httpx.get(f"{url}/gradio_api/call/ask/{begun}").text


def test_calls_leave_little_behind(served):
    url, app = served
    for _ in range(8):
        assert "event: error" in call(url)
    held = app.state_holder.session_data
    assert len(held) <= 5
    assert all(not session.config_values for session in held.values())


def test_the_session_of_a_call_goes_with_it_and_that_of_a_page_stays(served):
    url, app = served
    call(url)
    held = app.state_holder
    assert held["ab12cd34ef5"] and len(held.session_data) > 1
    sessions.forget(app)
    assert list(held.session_data) == ["ab12cd34ef5"]


def test_results_that_nobody_fetches_go(served):
    url, app = served
    httpx.post(f"{url}/gradio_api/call/ask", json={"data": [{"path": "/no/upload"}, "What?"]})
    queue = app.get_blocks()._queue
    while queue.event_ids_to_events:
        httpx.get(f"{url}/healthz")
    assert queue.pending_messages_per_session and queue.pending_event_ids_session
    sessions.forget(app, 60.0)
    assert queue.pending_messages_per_session
    sessions.forget(app, 0.0)
    assert not queue.pending_messages_per_session and not queue.pending_event_ids_session
    assert list(app.state_holder.time_last_used) == list(app.state_holder.session_data)


def test_what_a_page_sends_is_not_kept_with_its_session(served):
    url, app = served
    page = app.get_blocks()
    number, event = next((n, fn) for n, fn in page.fns.items() if len(fn.inputs) > 5 and fn.fn)
    data = ["x" * 1000] * len(event.inputs)
    sent = {"fn_index": number, "data": data, "session_hash": "page1"}
    assert httpx.post(f"{url}/gradio_api/queue/join", json=sent).status_code == 200
    httpx.get(f"{url}/gradio_api/queue/data", params={"session_hash": "page1"})
    assert "page1" in app.state_holder
    assert dict(app.state_holder["page1"].config_values) == {}


def test_a_page_whose_session_had_to_go_is_left(served):
    app, gone = served[1], []
    page = app.get_blocks()
    unload = next(fn for fn in page.fns.values() if any(t[1] == "unload" for t in fn.targets))
    patch = pytest.MonkeyPatch()
    patch.setattr(unload, "fn", lambda user: gone.append(user.session_hash))
    for number in range(sessions.SESSIONS + 2):
        assert app.state_holder[f"new{number}"]
    patch.undo()
    assert gone[-2:] == ["new0", "new1"]


def test_the_progress_of_uploads_is_forgotten(served, monkeypatch):
    url, app = served
    monkeypatch.setattr(sessions, "UPLOADS", 2)
    for number in range(5):
        files = {"files": ("a.mp4", b"x")}
        asked = httpx.post(f"{url}/gradio_api/upload?upload_id={number}", files=files)
        assert asked.status_code == 200
    sessions.forget(app)
    kept = sessions.file_upload_statuses
    assert list(kept._statuses) == list(kept._signals) == ["3", "4"]


def test_old_files_are_deleted_while_new_ones_come(served, tmp_path):
    app = served[1]
    page = app.get_blocks()
    old = tmp_path / "old.mp4"
    old.touch()
    for paths in page.temp_file_sets:
        assert isinstance(paths, sessions.Paths)
    page.upload_file_set.add(str(old))
    for path in page.upload_file_set:
        page.upload_file_set.add(f"{path}.new")
    delete_files_created_by_app(page, -1)
    assert not old.exists() and str(old) not in page.upload_file_set
    assert f"{old}.new" in page.upload_file_set
    sessions.forget_gone(app)
    assert not page.upload_file_set


def test_who_asked_is_known_while_it_is_under_way(served):
    url, app = served
    seen = []
    run = app.get_blocks().process_api

    async def watched(*given, **options):
        seen.extend(sessions.visitors(app))
        return await run(*given, **options)

    app.get_blocks().process_api = watched
    call(url)
    assert seen == ["127.0.0.1"] and not list(sessions.visitors(app))


def test_nothing_passes_by_the_queue(served):
    url, app = served
    queued = next(number for number, fn in app.get_blocks().fns.items() if fn.queue and fn.fn)
    sent = {"fn_index": queued, "data": [], "session_hash": "x"}
    assert httpx.post(f"{url}/gradio_api/run/predict", json=sent).status_code == 404
