"""Opening a saved run that a visitor uploaded: unpacked in the decoding process, checked here."""

from __future__ import annotations

import math

from gleanvid.evaluation.recording.soundness import sound
from gleanvid.run import Run
from gleanvid.video.isolation import sandbox
from gleanvid.video.isolation.bounds import NO_RUN, TOO_LARGE
from gleanvid.video.plan import UnreadableVideoError

OPEN_S = 30.0  # to unpack one
MAX_FRAMES = 128  # each is drawn, again and again, by what exports it
MAX_TOKENS = 2**20
UNREADABLE = (
    *(ValueError, TypeError, RuntimeError, OverflowError, MemoryError),
    *(AttributeError, KeyError, IndexError),
)


def opened(path: str) -> Run:
    """A saved run. Raises ``ValueError`` for anything else, with a sentence for the visitor."""
    try:
        run = Run.of(*sandbox.unpacked(path, OPEN_S))
        size, whole = math.prod(run.compression.grid), sound(run)
    except UnreadableVideoError as error:
        raise ValueError(str(error)) from error
    except UNREADABLE as error:
        raise ValueError(NO_RUN) from error
    if size > MAX_TOKENS or len(run.video) > MAX_FRAMES:
        raise ValueError(TOO_LARGE)
    if not whole:
        raise ValueError(NO_RUN)
    return run
