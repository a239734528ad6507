"""Limits per visitor on Gradio's sessions and on its running functions."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import gradio as gr
from gradio.state_holder import SessionState, StateHolder

from .visitors import VISITOR

CHECK_S = 1.0  # seconds between two checks whether the caller of a running function has gone


class Session(SessionState):
    """Gradio session without a copy of the configuration of every widget.

    Gradio makes such a copy for every session, even for each API call. Only its deep links, which
    the page does not use, read the copy.
    """

    def __init__(self, blocks: gr.Blocks) -> None:
        super().__init__(blocks)
        self.visitor = VISITOR.get()

    @property
    def config_values(self) -> dict[int, Any]:
        return {}

    @config_values.setter
    def config_values(self, values: dict[int, Any]) -> None:
        return

    def _update_value_in_config(self, key: int, value: Any) -> None:
        return


class Sessions(StateHolder):
    """Holds at most ``capacity`` sessions; dropping a session also ends the jobs of its page.

    If there are too many, the oldest session of the visitor with the most sessions is dropped.
    Gradio would drop the oldest session of all: a visitor who makes up session names could end the
    sessions of everybody else. It would also let the jobs of a dropped page run on.
    """

    def __getitem__(self, session_id: str) -> SessionState:
        if session_id not in self:
            self.session_data[session_id] = Session(self.blocks)
        return super().__getitem__(session_id)

    def update(self, session_id: str) -> None:
        with self.lock:
            if len(self.session_data) > self.capacity:
                visitors = {
                    name: getattr(one, "visitor", "") for name, one in self.session_data.items()
                }
                (crowd, _), *_ = Counter(visitors.values()).most_common(1)
                first = next(name for name, visitor in visitors.items() if visitor == crowd)
                self.session_data.move_to_end(first, last=False)
        oldest = next(iter(self.session_data))
        super().update(session_id)
        if oldest not in self.session_data:
            self._unload(oldest)

    def close(self, session_id: str) -> None:
        """End the jobs of a page that was closed; Gradio drops its session an hour later."""
        if session := self.session_data.get(session_id):
            session.is_closed = True
            self._unload(session_id)

    def _unload(self, session_id: str) -> None:
        for event in self.blocks.fns.values():
            if event.fn and any(kind == "unload" for _, kind in event.targets):
                event.fn(gr.Request(session_hash=session_id))


class Caller:
    """The visitor who waits for one call of a function."""

    def __init__(self) -> None:
        self.has_left = False
        self.ends: list[Callable[[], Any]] = []

    def leave(self) -> None:
        """End the call, because its visitor has cancelled it or has disconnected."""
        self.has_left = True
        for end in self.ends:
            end()


CALLER: ContextVar[Caller | None] = ContextVar("CALLER", default=None)


def when_caller_leaves(end: Callable[[], Any]) -> None:
    """Have ``end`` called once the current call is cancelled or its visitor disconnects."""
    if caller := CALLER.get():
        caller.ends.append(end)
        if caller.has_left:
            end()


class Calls:
    """Replaces ``Blocks.call_function``: ends calls that were cancelled or whose visitor left.

    Gradio forgets such an event, but its function runs on in a thread. So one address could start
    any number of functions. Here, cancelled functions are counted until they end.
    """

    def __init__(self, blocks: gr.Blocks) -> None:
        self.blocks, self.stock = blocks, blocks.call_function
        self.left: dict[asyncio.Future[Any], str] = {}  # cancelled function -> client address

    async def __call__(
        self,
        function: Any,
        values: Any,
        iterator: Any = None,
        requests: Any = None,
        event_id: str | None = None,
        *others: Any,
    ) -> Any:
        given = function, values, iterator, requests, event_id, *others
        CALLER.set(caller := Caller())
        running = asyncio.ensure_future(self.stock(*given))
        try:
            while not (await asyncio.wait([running], timeout=CHECK_S))[0]:
                event = self.blocks._queue.event_ids_to_events.get(event_id or "")
                if event is not None and not event.alive:  # the client has disconnected
                    caller.leave()
            return running.result()
        except asyncio.CancelledError:
            caller.leave()
            first = requests[0] if isinstance(requests, list) else requests
            self.left[running] = getattr(getattr(first, "client", None), "host", "")
            running.add_done_callback(self._forget)
            raise

    def _forget(self, over: asyncio.Future[Any]) -> None:
        del self.left[over]
        if not over.cancelled():
            over.exception()  # read the error, or asyncio logs it as never retrieved
