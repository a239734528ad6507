"""Patches for faults of Gradio 6.31 that matter on a public server.

Each has a test in ``tests/components/server/test_gradio_patches.py`` that fails as soon as a
Gradio without the fault is installed: then the patch goes.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import gradio as gr
from gradio import queueing, route_utils, routes, utils
from gradio.route_utils import GradioMultiPartParser
from gradio.routes import file_upload_statuses
from gradio.state_holder import SessionState, StateHolder
from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException
from starlette.types import Scope

from .allowed import FILE

log = logging.getLogger(__name__)

MOST_FILES = 4  # most files in one upload; the page and the clients send one
SESSIONS = 2000  # most sessions in memory; beyond that the least recently used are dropped
UPLOADS = 1000  # most uploads whose progress is kept
KEEP_S = 600.0  # seconds that results are kept if nobody fetches them
CALL = re.compile(r"[0-9a-f]{32}")  # an API call's session is named after its only event
FAILURES = 60  # most failures logged per minute
LONGEST_FAILURE = 300  # characters of an error in the log
OF_FILES = {b"host", b"range", b"if-range", b"if-none-match", b"if-modified-since"}
UNFIT = (
    "A value of this request cannot be used: some are missing, of another kind than "
    "/gradio_api/info lists, or a file that is no longer on the server."
)
ONE_RANGE = re.compile(rb"bytes=([0-9]{1,15}-[0-9]{0,15}|-[0-9]{1,15})")


class FilesOnly(GradioMultiPartParser):
    """Form parser that takes files alone, few of them, and leaves none behind.

    Gradio holds every other field in memory, however long it is, takes 1,000 files in an upload,
    and keeps the files of an upload that broke off or has another field's name. It names the folder
    of an upload by its content: whoever has the same clip could ask whether somebody brought it.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options | {"max_files": MOST_FILES, "max_fields": 0})

    def on_headers_finished(self) -> None:
        super().on_headers_finished()
        if self._current_part.field_name != "files":
            raise MultiPartException("The files of an upload are fields named files.")
        file: Any = self._current_part.file
        if file is not None:
            file.sha.update(secrets.token_bytes())

    async def parse(self) -> FormData:
        try:
            return await super().parse()
        except BaseException:
            for file in self._files_to_close_on_error:
                file.close()
                Path(file.name).unlink(missing_ok=True)
            raise


class Session(SessionState):
    """Session state that does not copy every widget's configuration.

    Gradio makes the copy for each call of an endpoint too; only deep links read it.
    """

    @property
    def config_values(self) -> dict[int, Any]:
        return {}

    @config_values.setter
    def config_values(self, values: dict[int, Any]) -> None:
        return

    def _update_value_in_config(self, key: int, value: Any) -> None:
        return


class Sessions(StateHolder):
    """At most ``capacity`` sessions; dropping one also ends the work of its page.

    Gradio would only drop the session, and the page's work would continue.
    """

    def __getitem__(self, session_id: str) -> SessionState:
        if session_id not in self:
            self.session_data[session_id] = Session(self.blocks)
        return super().__getitem__(session_id)

    def update(self, session_id: str) -> None:
        oldest = next(iter(self.session_data))
        super().update(session_id)
        if oldest not in self.session_data:
            for event in self.blocks.fns.values():
                if event.fn and any(kind == "unload" for _, kind in event.targets):
                    event.fn(gr.Request(session_hash=oldest))


class FailureLog:
    """Replaces the module ``traceback`` in Gradio: logs one bounded line per failed event.

    Gradio prints a traceback for whatever a request holds that does not fit its event, and with it
    what the visitor sent: one address could write 150 MB a minute, and forge lines.
    """

    def __init__(self) -> None:
        self._begun, self._count = 0.0, 0

    def print_exc(self) -> None:
        """Log the error that is being handled, unless a minute has had ``FAILURES`` of them."""
        now = time.monotonic()
        if now - self._begun > 60.0:
            self._begun, self._count = now, 0
        self._count += 1
        if self._count <= FAILURES:
            log.error("An event failed: %s", ascii(repr(sys.exception()))[:LONGEST_FAILURE])
        if self._count == FAILURES:
            log.error("Further events that fail are not logged for up to a minute.")
        log.debug("An event failed.", exc_info=True)


FAILURE_LOG = FailureLog()
stock_payload = utils.error_payload


def error_payload(error: BaseException | None, show_error: bool) -> dict[str, Any]:
    """Return the error message of a failed event: ``UNFIT`` in place of Gradio's ``null``.

    Functions of the page and of the endpoints say themselves what went wrong, so only values that
    do not reach them are left.
    """
    return stock_payload(error if isinstance(error, gr.Error) else gr.Error(UNFIT), show_error)


def apply(app: Any) -> None:
    """Patch a Gradio application that is about to be served."""
    routes.traceback = queueing.traceback = FAILURE_LOG  # type: ignore[assignment]
    queueing.error_payload = utils.error_payload = error_payload
    route_utils.GradioMultiPartParser = FilesOnly  # type: ignore[misc]
    sessions = Sessions()
    sessions.set_blocks(app.get_blocks())
    sessions.capacity = SESSIONS
    app.state_holder = sessions


def without_mirrored(scope: Scope) -> Scope:
    """Drop most headers of a request for a file, and ranges of several parts.

    Gradio sends all headers of a request for a part of a file back as headers of the answer.
    """
    if not scope["path"].startswith(FILE):
        return scope
    headers = [
        (name, value)
        for name, value in scope["headers"]
        if name in OF_FILES and (name != b"range" or ONE_RANGE.fullmatch(value))
    ]
    return {**scope, "headers": headers}


def addresses(app: Any) -> Iterator[str]:
    """Yield the client address of each waiting or running event."""
    for event in list(app.get_blocks()._queue.event_ids_to_events.values()):
        if event.request.client is not None:
            yield event.request.client.host


def forget_files(app: Any) -> None:
    """Drop the names of files that are deleted, which Gradio keeps for ever."""
    for paths in app.get_blocks().temp_file_sets:
        paths.difference_update(path for path in list(paths) if not os.path.exists(path))


def forget(app: Any, keep_s: float = KEEP_S) -> None:
    """Drop what Gradio keeps for ever.

    That is: sessions of calls that are over, results that nobody has fetched for ``keep_s``
    seconds, and the progress of all but the last uploads.
    """
    queue, sessions = app.get_blocks()._queue, app.state_holder
    since = datetime.now() - timedelta(seconds=keep_s)
    busy = {event.session_hash for event in queue.event_ids_to_events.values()}
    recent = {session for session, last in list(sessions.time_last_used.items()) if last > since}
    for session in list(sessions.session_data):
        if session not in busy and CALL.fullmatch(session):
            del sessions.session_data[session]
    for session in sessions.time_last_used.keys() - sessions.session_data.keys() - recent:
        del sessions.time_last_used[session]
    for kept in (queue.pending_messages_per_session, queue.pending_event_ids_session):
        for session in kept.keys() - busy - recent:
            del kept[session]
    for kept in (file_upload_statuses._statuses, file_upload_statuses._signals):
        for upload in list(kept)[:-UPLOADS]:
            del kept[upload]
