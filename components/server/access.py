"""Access to the model for one call of an endpoint; any failure becomes a ``gr.Error``."""

from __future__ import annotations

from typing import Any

import gradio as gr

from gleanvid.types import StoppedError, Video

from ..session.display import explain
from ..session.request import Request
from ..session.work.engine import Engine
from ..session.work.queue import Work
from .sessions import when_caller_leaves


class ModelAccess:
    """Context manager that reads a request's clip, waits for the model and frees it at the end."""

    def __init__(self, engine: Engine, request: Request) -> None:
        self.engine, self.request, self.work = engine, request, Work()

    def __enter__(self) -> tuple[Video, Work]:
        when_caller_leaves(self.work.end)
        try:
            clip = self.engine.clip(str(self.request.path), self.request.sampled, self.work)
            for _ in self.engine.queue.wait(self.work):
                continue
        except Exception as error:
            self.engine.queue.leave(self.work)
            raise gr.Error(explain(error), print_exception=False) from error
        return clip, self.work

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.engine.queue.leave(self.work)
        if isinstance(error, StoppedError):
            raise gr.Error(self.work.why, print_exception=False) from error
        if isinstance(error, Exception):
            raise gr.Error(explain(error), print_exception=False) from error
