"""What Gradio keeps of every session, within bounds.

It makes a session of every call to an endpoint too, and gives each a copy of all widgets' settings.
Results that nobody has fetched it keeps as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from gradio.state_holder import SessionState, StateHolder

SESSIONS = 2000  # beyond that the least recently used go
OF_A_CALL = re.compile(r"[0-9a-f]{32}")  # it is named by its only event
KEEP_S = 600.0  # results that nobody has fetched


class Sessions(StateHolder):
    """Sessions without that copy, which only links into a session would read."""

    def __getitem__(self, session_id: str) -> SessionState:
        known = session_id in self
        session = super().__getitem__(session_id)
        if not known:
            session.config_values = {}
        return session


def bound(app: Any) -> None:
    """Have a Gradio application keep its sessions in this way from now on."""
    sessions = Sessions()
    sessions.set_blocks(app.get_blocks())
    sessions.capacity = SESSIONS
    app.state_holder = sessions


def visitors(app: Any) -> Iterator[str]:
    """The address of the visitor of every event that waits or is under way."""
    for event in app.get_blocks()._queue.event_ids_to_events.values():
        if event.request.client is not None:
            yield event.request.client.host


def forget(app: Any, keep_s: float = KEEP_S) -> None:
    """Drop the sessions of calls that are over, and results that nobody has fetched for so long."""
    queue, sessions = app.get_blocks()._queue, app.state_holder
    since = datetime.now() - timedelta(seconds=keep_s)
    busy = {event.session_hash for event in queue.event_ids_to_events.values()}
    recent = {session for session, last in list(sessions.time_last_used.items()) if last > since}
    for session in [*sessions.session_data]:
        if session not in busy and OF_A_CALL.fullmatch(session):
            del sessions.session_data[session]
    for kept in (queue.pending_messages_per_session, queue.pending_event_ids_session):
        for session in kept.keys() - busy - recent:
            del kept[session]
    for session in sessions.time_last_used.keys() - sessions.session_data.keys() - recent:
        del sessions.time_last_used[session]
