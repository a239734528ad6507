"""What is kept of every session and call stays within bounds."""

from __future__ import annotations

import httpx
import pytest

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
