"""All that is patched in Gradio 6.31, each with the symptom of the unpatched library.

Each patch has a test in ``tests/components/server/test_gradio_patches.py`` that fails as soon as
a Gradio without the fault is installed: delete the patch then.
"""

from __future__ import annotations

import logging
import secrets
from typing import Any

from gradio import queueing, route_utils, routes
from gradio.route_utils import GradioMultiPartParser

from ..jobs.failures import FAILURE_LOG
from .visitors import visitor

MOST_FILES = 4  # maximum number of files in one upload; the page and the clients send one


class FilesOnly(GradioMultiPartParser):
    """Parser of upload forms without text fields, and with a random name for every upload.

    Symptoms: Gradio appends to a text field byte string by byte string, so that one upload holds
    up the server for minutes. It names a file by its content, so that anyone with the same clip
    can find out whether another visitor uploaded it.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options | {"max_files": MOST_FILES, "max_fields": 0})

    def on_headers_finished(self) -> None:
        super().on_headers_finished()
        file: Any = self._current_part.file
        file.sha.update(secrets.token_bytes())


def apply() -> None:
    """Patch Gradio, for all applications of this process."""
    routes.traceback = queueing.traceback = FAILURE_LOG  # type: ignore[assignment]
    logging.getLogger("uvicorn.error").addFilter(FAILURE_LOG)
    route_utils.GradioMultiPartParser = FilesOnly  # type: ignore[misc]


def events_of(app: Any, name: str) -> int:
    """Return how many events of the :func:`visitor` ``name`` wait or run in Gradio's queue."""
    events = list(app.get_blocks()._queue.event_ids_to_events.values())
    senders = [event.request.client for event in events if event.request.client]
    return sum(visitor(client.host) == name for client in senders)
