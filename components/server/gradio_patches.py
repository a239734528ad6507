"""Patches for faults of Gradio 6.31 that matter on a public server.

Each patch has a test in ``tests/server/test_gradio_patches.py`` that fails as soon as
a Gradio without the fault is installed: delete the patch then.
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
from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException
from starlette.types import Scope

from .allowed import FILE
from .sessions import Calls, Sessions

log = logging.getLogger(__name__)

MOST_FILES = 4  # maximum number of files in one upload; the page and the clients send one
SESSIONS = 2000  # maximum number of Gradio sessions in memory; see `Sessions`
UPLOADS = 1000  # maximum number of uploads whose progress is kept
KEEP_S = 600.0  # seconds after which results that nobody fetched are dropped
CALL = re.compile(r"[0-9a-f]{32}")  # session name of an API call: the id of its only event
FAILURES = 60  # maximum number of failures logged per minute
LONGEST_FAILURE = 300  # maximum number of characters of an error in the log
OF_FILES = {b"host", b"range", b"if-range", b"if-none-match", b"if-modified-since"}
UNFIT = (
    "A value of this request cannot be used: it is missing, not of the type that "
    "/gradio_api/info lists, or a file that is no longer on the server."
)
ONE_RANGE = re.compile(rb"bytes=([0-9]{1,15}-[0-9]{0,15}|-[0-9]{1,15})")


class FilesOnly(GradioMultiPartParser):
    """Parser of upload forms that limits the number of files and cleans up failed uploads.

    Gradio's parser would hold form fields of any length in memory, accept 1,000 files, and keep
    those of failed uploads. It names folders by a hash of the file, so anyone with the same file
    could find out that it was uploaded. Here, random bytes are added to the hash.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options | {"max_files": MOST_FILES, "max_fields": 0})

    def on_headers_finished(self) -> None:
        super().on_headers_finished()
        if self._current_part.field_name != "files":
            raise MultiPartException(
                "An upload must send its files in form fields with the name 'files'."
            )
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


class FailureLog:
    """Replaces the module ``traceback`` in Gradio; logs a failed event as one line.

    For invalid values, Gradio prints a traceback with these values: one address could write 150 MB
    a minute into the log, and forge lines. Here, length and number of the lines are limited.
    """

    def __init__(self) -> None:
        self._begun, self._count = 0.0, 0

    def print_exc(self) -> None:
        """Log the error being handled, unless ``FAILURES`` errors were logged within a minute."""
        now = time.monotonic()
        if now - self._begun > 60.0:
            self._begun, self._count = now, 0
        self._count += 1
        if self._count <= FAILURES:
            log.error("A request failed: %s", ascii(repr(sys.exception()))[:LONGEST_FAILURE])
        if self._count == FAILURES:
            log.error("Further failed requests are not logged for up to a minute.")
        log.debug("A request failed.", exc_info=True)


FAILURE_LOG = FailureLog()
stock_payload = utils.error_payload


def error_payload(error: BaseException | None, show_error: bool) -> dict[str, Any]:
    """Return the error message of a failed event: ``UNFIT`` in place of Gradio's ``null``.

    Functions of the page and of the endpoints raise ``gr.Error`` with their own message. ``UNFIT``
    is for values that Gradio refuses before it calls a function.
    """
    return stock_payload(error if isinstance(error, gr.Error) else gr.Error(UNFIT), show_error)


def apply(app: Any) -> None:
    """Patch a Gradio application that is about to be served."""
    app.get_blocks().call_function = Calls(app.get_blocks())
    routes.traceback = queueing.traceback = FAILURE_LOG  # type: ignore[assignment]
    queueing.error_payload = utils.error_payload = error_payload
    route_utils.GradioMultiPartParser = FilesOnly  # type: ignore[misc]
    sessions = Sessions()
    sessions.set_blocks(app.get_blocks())
    sessions.capacity = SESSIONS
    app.state_holder = sessions


def without_mirrored(scope: Scope) -> Scope:
    """Return a request for a file without the headers that serving the file does not need.

    If a range of the file is requested, Gradio copies all request headers into its response. A
    range header that names several ranges is dropped as well.
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
    """Yield the client address of each event that waits or runs in Gradio's queue.

    Gradio forgets cancelled events. They are included here until their functions end.
    """
    yield from app.get_blocks().call_function.left.values()
    for event in list(app.get_blocks()._queue.event_ids_to_events.values()):
        if event.request.client is not None:
            yield event.request.client.host


def forget_files(app: Any) -> None:
    """Remove names of deleted files from Gradio's sets of temporary files, which only grow."""
    for paths in app.get_blocks().temp_file_sets:
        paths.difference_update(path for path in list(paths) if not os.path.exists(path))


def forget(app: Any, keep_s: float = KEEP_S) -> None:
    """Drop sessions and results that Gradio would keep for ever.

    These are the sessions of finished API calls, results that nobody fetched within ``keep_s``
    seconds, and the progress of all uploads except the last ``UPLOADS``.
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
