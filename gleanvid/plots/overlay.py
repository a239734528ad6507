"""Frames with the dropped tokens darkened: what the model was shown."""

from __future__ import annotations

import numpy as np

from gleanvid.run import Run

_DIM = 0.22  # brightness left to a dropped token
_EDGE = np.array([0, 114, 178], np.uint8)


def first_frame(run: Run, unit: int) -> int:
    """Index of the first sampled frame of a temporal unit."""
    per_unit = -(-len(run.video) // run.compression.grid[0])
    return min(unit * per_unit, len(run.video) - 1)


def overlay_frame(run: Run, unit: int) -> np.ndarray:
    """uint8 [H, W, 3]: the unit's first frame; dropped tokens dark, kept ones outlined."""
    frame = run.video.frames[first_frame(run, unit)].copy()
    height, width = frame.shape[:2]
    scale = np.array([width, height, width, height]) / np.tile(run.video.source_size[::-1], 2)
    boxes = np.rint(run.rectangles.numpy() * scale).astype(int)
    kept = run.compression.mask.numpy().reshape(run.compression.grid[0], -1)[unit]
    shown = (frame * _DIM).astype(np.uint8)
    for left, top, right, bottom in boxes[kept]:
        shown[top:bottom, left:right] = frame[top:bottom, left:right]
        shown[top:bottom, left : left + 1] = shown[top : top + 1, left:right] = _EDGE
    return shown


def contact_sheet(run: Run, columns: int = 4) -> np.ndarray:
    """uint8 [H', W', 3]: the overlays of all units, row by row, on one sheet."""
    tiles = [overlay_frame(run, unit) for unit in range(run.compression.grid[0])]
    columns = min(columns, len(tiles))
    blank = np.zeros_like(tiles[0])
    tiles += [blank] * (-len(tiles) % columns)
    rows = [np.hstack(tiles[start : start + columns]) for start in range(0, len(tiles), columns)]
    return np.vstack(rows)
