"""Jobs on the model that a button starts: one at a time on each page; Stop ends them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from ..jobs.display import message
from ..jobs.pages import UPLOAD
from .events import AT_ONCE, QUEUED, Changes, Values
from .page_state import owner
from .panel import Page

GRACE_S = 3.0  # longest wait in seconds for a stopped job to end by itself
BUSY = "An earlier task of this page is still running. Stop it first, or wait."


def start(
    page: Page,
    event: Callable[..., Any],
    notice: gr.HTML,
    stop: gr.Button,
    handler: Callable[..., Any],
    outputs: Sequence[Any],
    also: Sequence[Any] = (),
) -> Any:
    """On ``event``, start the job ``handler``, unless a job of the page is running.

    Until the job ends, all buttons that start or stop jobs are disabled, except ``stop``. If a
    job is running, ``notice`` says so: Gradio shows no errors of events outside its queue.
    ``outputs``: widgets that the job changes. ``also``: further inputs of ``handler``.
    """

    def on_start(user: gr.Request) -> Changes:
        pages = page.engine.pages
        if pages.has(owner(user), UPLOAD) or not pages.start(owner(user)):
            raise gr.Error(BUSY, print_exception=False)
        return {notice: message("Starting…")} | page.outputs.working(True, stop)

    started = event(on_start, None, [notice, *page.outputs.buttons], **AT_ONCE)
    started.failure(lambda: message(BUSY, "problem"), None, notice, **AT_ONCE)
    return page.inputs.when(started.success, handler, outputs, also, **QUEUED)


def stop_with(
    page: Page,
    button: gr.Button,
    jobs: Sequence[Any],
    stopped: Callable[[Values], Changes],
    outputs: Sequence[Any],
    inputs: Sequence[Any] = (),
) -> None:
    """On a click of ``button``, stop the jobs of the page, then cancel their Gradio events.

    ``stopped``: returns the changes that show the end of a job that did not show it by itself
    within ``GRACE_S``, from the values of ``inputs``.
    """

    def on_stop(user: gr.Request, values: Values) -> Changes:
        works = page.engine.pages.stop(owner(user))
        until = time.monotonic() + GRACE_S
        over = [work.over.wait(max(0.0, until - time.monotonic())) for work in works]
        return gr.skip() if over and all(over) else stopped(values)

    # First tell the running job to stop, which frees the model; then cancel its Gradio event.
    ended = button.click(on_stop, {*inputs}, outputs, **AT_ONCE)
    ended.then(None, None, None, cancels=list(jobs))
