"""Access to the model for one call of an endpoint; any failure becomes a ``gr.Error``."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gradio as gr
from gradio.context import LocalContext

from gleanvid.types import StoppedError, Video

from ..jobs.display import explain
from ..jobs.engine import Engine
from ..jobs.queue import Work
from ..jobs.request import Request

CHECK_S = 1.0  # seconds between two checks whether the caller has gone


@contextmanager
def model_access(engine: Engine, request: Request, work: Work) -> Iterator[Video]:
    """Read a request's clip, wait for the model, yield the clip; then free the model."""
    try:
        with ended_with_caller(work.end):
            clip = engine.clip(str(request.path), request.sampled, work)
            for _ in engine.queue.wait(work):
                continue
            yield clip
    except StoppedError as error:
        raise gr.Error(work.why, print_exception=False) from error
    except Exception as error:
        raise gr.Error(explain(error), print_exception=False) from error
    finally:
        engine.queue.leave(work)


@contextmanager
def ended_with_caller(end: Callable[[], Any]) -> Iterator[None]:
    """Call ``end`` if the caller of the current Gradio event cancels it or disconnects.

    Gradio forgets such an event, but its function runs on in a thread.
    """
    blocks, event_id = LocalContext.blocks.get(None), LocalContext.event_id.get(None)
    is_over = threading.Event()

    def watch(events: Any) -> None:
        while not is_over.wait(CHECK_S):
            event = events.get(event_id)
            if event is None or not event.alive:
                end()
                return

    if blocks is not None and event_id is not None:
        events = blocks._queue.event_ids_to_events
        threading.Thread(target=watch, args=[events], daemon=True).start()
    try:
        yield
    finally:
        is_over.set()
