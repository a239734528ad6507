"""Opening a saved run that a visitor uploaded: unpacked in the decoding process, checked here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import astuple

import torch

from gleanvid.run import Run
from gleanvid.types import Compression
from gleanvid.video import sandbox
from gleanvid.video.bounds import NO_RUN, TOO_LARGE
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
        size, sound = math.prod(run.compression.grid), _sound(run)
    except UnreadableVideoError as error:
        raise ValueError(str(error)) from error
    except UNREADABLE as error:
        raise ValueError(NO_RUN) from error
    if size > MAX_TOKENS or len(run.video) > MAX_FRAMES:
        raise ValueError(TOO_LARGE)
    if not sound:
        raise ValueError(NO_RUN)
    return run


def _sound(run: Run) -> bool:
    """Whether a run agrees with itself, so that nothing drawn from it points outside."""
    units, rows, columns = run.compression.grid
    video, numbers = run.video, [*astuple(run.cost)[:-1], *run.cost.visual_tokens_by_layer]
    numbers += [video.fps, video.duration, video.total_frames, *video.source_size]
    texts = (run.question, run.answer, run.model, video.name, *video.notes)
    return (
        run.compression.num_tokens == units * rows * columns
        and 1 <= units <= len(video)
        and min(rows, columns, *video.source_size) >= 1
        and run.seconds.shape == (units, 2)
        and run.rectangles.shape == (rows * columns, 4)
        and all(_inside(record) for record in run.by_layer.values())
        and all(isinstance(text, str) for text in texts)
        and all(isinstance(number, int | float) for number in numbers)
        and isinstance(run.compressor, Mapping)
        and isinstance(run.made_with, Mapping)
    )


def _inside(record: Compression) -> bool:
    """Whether a record names only rows and tokens that there are."""
    by_token = [record.group, record.weight, *record.scores.values()]
    return (
        record.keep.dtype == record.group.dtype == torch.int64
        and record.keep.ndim == 1
        and 0 <= int(record.keep.min()) <= int(record.keep.max()) < record.num_tokens
        and -1 <= int(record.group.min()) <= int(record.group.max()) < record.num_kept
        and all(part.shape == (record.num_tokens,) for part in by_token)
    )
