"""What changes on a page, as plain values, and the sentences for what went wrong."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from gleanvid.types import ModelError, VideoError

from ..viewer.values import Clip
from .display import Answer, Exchange, Message, message, status
from .work.engine import Engine
from .work.queue import BusyError, Work

log = logging.getLogger(__name__)

OUT_OF_MEMORY = (
    "The model ran out of memory. Use fewer frames or a lower retention ratio, then try again."
)
UNEXPECTED = "Something went wrong while working on this clip. The server's log has the details."


@dataclass(frozen=True)
class PageUpdate:
    """What changes on the page; None leaves a part as it is."""

    notice: Message | None = None
    viewer: Clip | None = None
    answers: list[Answer] | None = None  # beside the viewer's value
    runs: list[str] | None = None  # ids, as in `Sides`
    exchanges: list[Exchange] | None = None
    status: list[tuple[str, str]] | None = None
    pending: str | None = None  # what the viewer waits for; a new value of it ends that
    stoppable: bool = False  # a preview that the person can stop
    done: bool = False


STOPPED = PageUpdate(message("Stopped."), done=True)


def explain(error: Exception) -> str:
    """A sentence for the person. Errors written for people keep their text; others are logged."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return OUT_OF_MEMORY
    if isinstance(error, VideoError | ModelError | ValueError | BusyError):
        return str(error)
    log.error("unexpected failure", exc_info=error)
    return UNEXPECTED


def waiting(engine: Engine, work: Work) -> Iterator[PageUpdate]:
    """Say how many requests come first, until ``work`` may use the model."""
    for ahead in engine.line.wait(work):
        others = "1 request comes" if ahead == 1 else f"{ahead} requests come"
        text = f"Waiting for the model: {others} before this one."
        yield PageUpdate(message(text), status=status(engine))
