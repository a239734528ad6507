"""What Gradio keeps of every session and upload, within bounds.

It makes a session of every call to an endpoint too, and gives each a copy of all widgets' settings.
Results that nobody has fetched it keeps as well, and the progress of uploads that nobody has asked
for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import gradio as gr
from gradio.routes import file_upload_statuses
from gradio.state_holder import SessionState, StateHolder

SESSIONS = 2000  # beyond that the least recently used go
OF_A_CALL = re.compile(r"[0-9a-f]{32}")  # it is named by its only event
KEEP_S = 600.0  # results that nobody has fetched
UPLOADS = 1000  # whose progress is kept


class Nothing(dict[Any, Any]):
    """Stays empty: Gradio would write there what a page sends and is shown."""

    def __setitem__(self, key: Any, value: Any) -> None:
        return

    def __contains__(self, key: Any) -> bool:
        return True  # else it is made anew for every event

    def __missing__(self, key: Any) -> dict[str, Any]:
        return {}


class Sessions(StateHolder):
    """Sessions without that copy, which only links into a session would read."""

    def __getitem__(self, session_id: str) -> SessionState:
        known = session_id in self
        session = super().__getitem__(session_id)
        if not known:
            session.config_values = Nothing()
        return session

    def update(self, session_id: str) -> None:
        """Gradio's; the page of a session that has to go is taken for left."""
        oldest = next(iter(self.session_data))
        super().update(session_id)
        if oldest not in self.session_data:
            for event in self.blocks.fns.values():
                if event.fn and any(kind == "unload" for _, kind in event.targets):
                    event.fn(gr.Request(session_hash=oldest))


class Paths(set[str]):
    """Files that Gradio deletes when they are old; others may come while it goes through them.

    That would end its deleting for good.
    """

    def __iter__(self) -> Iterator[str]:
        return iter(self | set())  # a plain set


def bound(app: Any) -> None:
    """Have a Gradio application keep its sessions and files in this way from now on."""
    sessions, page = Sessions(), app.get_blocks()
    sessions.set_blocks(page)
    sessions.capacity = SESSIONS
    app.state_holder = sessions
    page.upload_file_set = Paths(page.upload_file_set)
    own = [part for part in page.blocks.values() if hasattr(part, "temp_files")]
    for part in own:
        part.temp_files = Paths(part.temp_files)
    page.temp_file_sets = [page.upload_file_set, *(part.temp_files for part in own)]


def forget_gone(app: Any) -> None:
    """Drop the names of files that are no longer there."""
    for paths in app.get_blocks().temp_file_sets:
        for path in paths:
            if not os.path.exists(path):
                paths.discard(path)


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
    for kept in (file_upload_statuses._statuses, file_upload_statuses._signals):
        for upload in list(kept)[:-UPLOADS]:
            del kept[upload]
    for kept in (queue.pending_messages_per_session, queue.pending_event_ids_session):
        for session in kept.keys() - busy - recent:
            del kept[session]
    for session in sessions.time_last_used.keys() - sessions.session_data.keys() - recent:
        del sessions.time_last_used[session]
