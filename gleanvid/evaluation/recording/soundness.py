"""Checks that a run read from a file is consistent, such as that no index is out of range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple

import torch

from gleanvid.run import Run
from gleanvid.types import Compression

LONGEST_SIDE = 2**16  # limit on width and height of the source video, in pixels
MOST_LAYERS = 1000
LARGEST = 1e18  # limit on the absolute value of costs, video facts and compressor settings


def sound(run: Run) -> bool:
    """Return whether all values of a run are consistent; a wrong type may raise any exception."""
    units, rows, columns = run.compression.grid
    video, numbers = run.video, [*astuple(run.cost)[:-1], *run.cost.visual_tokens_by_layer]
    numbers += [video.fps, video.duration, video.total_frames, *video.source_size]
    texts = (run.question, run.answer, run.model, video.name, *video.notes)
    return (
        all(type(side) is int for side in run.compression.grid)
        and all(0 <= layer < MOST_LAYERS for layer in run.by_layer)
        and run.compression.num_tokens == units * rows * columns
        and 1 <= units <= len(video)
        and min(rows, columns, *video.source_size, *video.frames.shape[1:3]) >= 1
        and max(video.source_size) <= LONGEST_SIDE
        and run.cost.visual_tokens >= 1
        and run.seconds.shape == (units, 2)
        and run.rectangles.shape == (rows * columns, 4)
        and _computable(run.seconds, run.rectangles)
        and all(_inside(record) for record in run.by_layer.values())
        and all(isinstance(text, str) for text in texts)
        and all(isinstance(number, int | float) and not _is_huge(number) for number in numbers)
        and isinstance(run.compressor, Mapping)
        and isinstance(run.compressor["name"], str)
        and not any(map(_is_huge, run.compressor.values()))
        and isinstance(run.made_with, Mapping)
    )


def _is_huge(value: object) -> bool:
    """Return whether a value is a number beyond ±``LARGEST``; NaN is accepted."""
    return isinstance(value, int | float) and abs(value) > LARGEST


def _computable(*tensors: torch.Tensor) -> bool:
    """Return whether all tensors are float32, float64 or int64.

    torch cannot compute with some other types, such as most unsigned integers.
    """
    return {part.dtype for part in tensors} <= {torch.float32, torch.float64, torch.int64}


def _inside(record: Compression) -> bool:
    """Return whether a compression record has valid indices, and tensors of the right shapes."""
    novelty = record.trace.get("novelty")
    by_token = [record.group, record.weight, *record.scores.values()]
    return (
        record.keep.dtype == record.group.dtype == torch.int64
        and record.keep.ndim == 1
        and 0 <= int(record.keep.min()) <= int(record.keep.max()) < record.num_tokens
        and -1 <= int(record.group.min()) <= int(record.group.max()) < record.num_kept
        and all(part.shape == (record.num_tokens,) for part in by_token)
        and _computable(*by_token)
        and (novelty is None or novelty.shape == (record.grid[0],))
    )
