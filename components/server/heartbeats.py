"""Heartbeats: each page holds a connection open; its end tells that the page was closed.

This route replaces that of Gradio 6.31, which handles an unload event in the event loop when such a
connection ends. When 120 connections ended at once, the server stood still for seconds.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from gradio.utils import get_heartbeat_rate
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from .allowed import RefusedError
from .visitors import VISITOR, one_more

HEARTBEATS = 32  # maximum number of open heartbeats of one visitor; each open page has one
MANY = "Too many pages of this server are open at your address."


class Heartbeats:
    """ASGI endpoint of heartbeats; ends the jobs of a page once its heartbeat is closed."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app, session = scope["app"], scope["path_params"]["session_hash"]
        with one_more(self._open, VISITOR.get(), HEARTBEATS) as allowed:
            if not allowed:
                raise RefusedError(429, MANY)
            try:
                beats = StreamingResponse(_beats(app), media_type="text/event-stream")
                await beats(scope, receive, send)
            finally:
                app.state_holder.close(session)


async def _beats(app: Any) -> AsyncIterator[str]:
    while not app.stop_event.is_set():
        yield "data: ALIVE\n\n"
        with suppress(TimeoutError):
            await asyncio.wait_for(app.stop_event.wait(), get_heartbeat_rate())
