"""Work at the model that a button begins: one at a time for a page, ended by its Stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from ..session.display import message
from ..session.work.engine import Engine
from .shared import AT_ONCE, IN_LINE, Changes, Shared, owner

GRACE_S = 3.0  # time for stopped work to say how it ended
BUSY = "Still at work for you. Stop it first, or wait."


def starting(
    event: Callable[..., Any],
    engine: Engine,
    shared: Shared,
    notice: gr.HTML,
    stop: gr.Button,
    handler: Callable[..., Any],
    outputs: list[Any],
    also: Sequence[Any] = (),
) -> Any:
    """``handler`` on ``event``, once the work of this page is entered; see :meth:`Shared.when`.

    Meanwhile ``stop`` works, and no other of the buttons that stop or begin something. A second
    click is refused in ``notice``: Gradio shows no error of an event outside its queue.
    """

    def on_start(user: gr.Request) -> Changes:
        if not engine.pages.start(owner(user)):
            raise gr.Error(BUSY, print_exception=False)
        return {notice: message("Starting…")} | shared.working(True, stop)

    started = event(on_start, None, [notice, *shared.buttons], **AT_ONCE)
    started.failure(lambda: message(BUSY, "problem"), None, notice, **AT_ONCE)
    return shared.when(started.success, handler, outputs, also, **IN_LINE)


def halted(engine: Engine, user: gr.Request) -> bool:
    """Stop what this page has under way; whether it ended by itself in time."""
    works = engine.pages.stop(owner(user))
    until = time.monotonic() + GRACE_S
    over = [work.over.wait(max(0.0, until - time.monotonic())) for work in works]
    return bool(over) and all(over)
