"""Run the vision tower on a few frames at a time, which bounds its memory for long clips.

Patches attend only to patches of the same frame (or pair of frames). Different frames can therefore
be encoded by separate calls of the tower. Only the outputs are in memory for all frames at once.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from transformers.utils import ModelOutput

NUMBERS_AT_ONCE = 2**22  # pixel values per call of the tower: 6 frames of 3 x 448 x 448

Split = Callable[[Mapping[str, Any], int], list[dict[str, Any]]]


def by_frame(inputs: Mapping[str, Any], limit: int) -> list[dict[str, Any]]:
    """Split the inputs of a vision tower whose first input is the pixels [F, ...] of F frames.

    Every part has up to ``limit`` pixel values, but at least one frame.
    """
    pixels = next(iter(inputs.values()))
    frames = len(pixels)
    count = max(1, limit * frames // max(1, pixels.numel()))
    return [
        {
            name: value[start : start + count] if _has_rows(value, frames) else value
            for name, value in inputs.items()
        }
        for start in range(0, frames, count)
    ]


def by_unit(inputs: Mapping[str, Any], limit: int) -> list[dict[str, Any]]:
    """Split the inputs of a vision tower whose first input is the patches [P, C] of V videos.

    ``grid_thw`` [V, 3]: temporal units, rows and columns of each video. Every part has up to
    ``limit`` pixel values, but at least one temporal unit.
    """
    (name, patches), *_ = inputs.items()
    grids = inputs["grid_thw"]
    parts, start = [], 0
    for shares in _shares(grids.tolist(), limit // patches.shape[1]):
        videos = [video for video, _ in shares]
        grid = grids[videos]
        grid[:, 0] = grid.new_tensor([units for _, units in shares])
        stop = start + int(grid.prod(1).sum())
        own = {n: v[videos] for n, v in inputs.items() if _has_rows(v, len(grids))}
        parts.append({**inputs, **own, name: patches[start:stop], "grid_thw": grid})
        start = stop
    return parts


def _shares(grids: list[list[int]], limit: int) -> list[list[tuple[int, int]]]:
    """Divide the temporal units of all videos into parts of at most ``limit`` patches.

    ``grids``: (temporal units, rows, columns) of every video, in patches. Returns for every part a
    list of pairs (index of a video, number of its units). A part has at least one unit.
    """
    parts: list[list[tuple[int, int]]] = [[]]
    room = limit
    for video, (units, rows, columns) in enumerate(grids):
        while units:
            count = min(units, max(room // (rows * columns), int(not parts[-1])))
            if count < 1:
                parts.append([])
                room = limit
                continue
            parts[-1].append((video, count))
            room -= count * rows * columns
            units -= count
    return parts


def _has_rows(value: Any, count: int) -> bool:
    return isinstance(value, Tensor) and value.ndim > 0 and len(value) == count


@contextmanager
def in_chunks(
    tower: nn.Module | None, split: Split, along: int = 0, limit: int = NUMBERS_AT_ONCE
) -> Iterator[None]:
    """Make ``tower`` process at most ``limit`` pixel values at a time while the block runs.

    ``split`` divides the inputs of a call into parts of one frame or more. The outputs for the
    parts are concatenated in dimension ``along``. If ``tower`` is None, nothing changes.
    """
    if tower is None:
        yield
        return
    original: Any = tower.forward
    names = list(inspect.signature(original).parameters)

    @functools.wraps(original)
    def forward(*args: Any, **kwargs: Any) -> Any:
        inputs = dict(zip(names, args, strict=False)) | kwargs
        parts = split({n: v for n, v in inputs.items() if v is not None}, limit)
        if len(parts) == 1:
            return original(*args, **kwargs)
        return _joined([original(**part) for part in parts], along)

    tower.forward = forward
    try:
        yield
    finally:
        del tower.forward


def _joined(outputs: list[Any], along: int) -> Any:
    """Concatenate the tower's outputs for all parts into one output of the same class."""
    first = outputs[0]
    if isinstance(first, Tensor):
        return torch.cat(outputs, along)
    if isinstance(first, ModelOutput):
        fields = {name: [output[name] for output in outputs] for name in first}
        return type(first)(**{name: _joined(values, along) for name, values in fields.items()})
    if isinstance(first, (list, tuple)):
        return type(first)(_joined(list(values), along) for values in zip(*outputs, strict=True))
    return first
