"""M-RoPE positions in prompts whose videos are shortened ahead of the language model.

Kept tokens have the positions of the whole grid. So the text around a video stands where it would
stand without pruning, whatever is kept, and its positions are known before a pixel is seen
(:func:`around`). What was kept decides only where a medium's own rows stand; that travels with the
rows (:func:`to_columns`), because a prompt may arrive in chunks, or with its beginning in a cache,
and is put in as they come (:func:`place`).

Letters: N columns of a prompt, n rows of one medium (kept tokens; with Qwen3-VL also the time
stamps and marks of its frames), positions [3, N] for time, height and width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

Grid = tuple[int, int, int]  # units, rows and columns of tokens
_DIGITS = (16, 8, 0)  # bfloat16 holds whole numbers exactly only up to 256: one byte a column
CARRIED = 5 * len(_DIGITS)  # columns that :func:`to_columns` makes


@dataclass(frozen=True)
class Medium:
    """An image or a video in a prompt: its rows there, and the positions it takes of the whole."""

    start: int
    length: int
    extent: int


def around(length: int, media: Sequence[Medium]) -> tuple[Tensor, int]:
    """Positions int64 [3, N] of all text, and the position that follows the prompt.

    A medium's rows stand at its last position until they are placed.
    """
    text = torch.ones(length, dtype=torch.long)
    jumps = torch.zeros(length + 1, dtype=torch.long)
    for medium in media:
        end = medium.start + medium.length
        text[medium.start : end] = 0
        jumps[medium.start] += medium.extent - 1  # the medium's last position ...
        jumps[end] += 1  # ... and the one behind it
    positions = text.cumsum(0) - text + jumps[:length].cumsum(0)
    return positions.expand(3, -1).clone(), int(text.sum() + jumps.sum())


def frame_rows(visual: Tensor, starts: Tensor, keep: Tensor, grid: Grid) -> Tensor:
    """[n, 3]: rows of a video of Qwen3-VL, every frame of which has its own time stamp and marks.

    ``visual`` bool [n]: tokens of the video, the others are text; ``starts`` bool [n]: the mark
    ahead of each frame's tokens; ``keep`` int64 [K]: indices of the kept tokens in the grid.
    """
    _, rows, columns = grid
    text = (~visual).long()
    before = text.cumsum(0) - text + max(rows, columns) * (starts.cumsum(0) - starts.long())
    positions = before[:, None].expand(-1, 3).clone()
    positions[visual] -= max(rows, columns)  # the own frame's mark has gone by
    positions[visual, 1] += keep // columns % rows
    positions[visual, 2] += keep % columns
    return positions


def frame_extent(num_text: int, grid: Grid) -> int:
    """Positions that a video of Qwen3-VL takes, with ``num_text`` columns of stamps and marks."""
    return num_text + grid[0] * max(grid[1:])


def grid_rows(keep: Tensor, grid: Grid, per_unit: float = 1.0) -> Tensor:
    """[K, 3]: tokens of an image, or of a video of Qwen2.5-VL; ``per_unit`` is a unit's time."""
    _, rows, columns = grid
    unit = keep // (rows * columns)
    time = (unit.double() * per_unit).long()
    return torch.stack([time, keep // columns % rows, keep % columns], 1)


def grid_extent(grid: Grid, per_unit: float = 1.0) -> int:
    """Positions that an image, or a video of Qwen2.5-VL, takes."""
    return max(int((grid[0] - 1) * per_unit) + 1, *grid[1:])


def to_columns(positions: Tensor, lead: int = 0) -> Tensor:
    """[n, CARRIED] of whole numbers up to 255, to travel behind the n rows of one medium.

    Beside the positions [n, 3], counted from the medium's start, they say which row of the medium
    each is, and that ``lead`` rows of it stand ahead of its first placeholder in the prompt.
    """
    index = torch.arange(len(positions), device=positions.device)
    values = torch.cat([positions, index[:, None], torch.full_like(index, lead)[:, None]], 1)
    return torch.stack([values >> shift & 255 for shift in _DIGITS], 2).flatten(1)


def from_columns(columns: Tensor) -> Tensor:
    """int64 [n, 5] on the CPU: time, height, width, row of the medium, lead."""
    digits = columns.cpu().long().unflatten(1, (5, len(_DIGITS)))
    return sum(
        (digits[..., place] << shift for place, shift in enumerate(_DIGITS)), digits.new_zeros(())
    )


def place(
    positions: Tensor, placeholders: Tensor, chunk: Sequence[Tensor], computed: int
) -> Tensor:
    """Positions [3, N] with those of the rows that a chunk of the prompt brings.

    ``placeholders`` bool [N]: columns that stand for tokens of an image or a video; ``chunk``: what
    :func:`from_columns` made of each medium's rows, in order; ``computed``: columns that are done.
    A medium that began in an earlier chunk goes on at ``computed``.
    """
    placed, cursor = positions.clone(), computed
    for rows in chunk:
        if not len(rows):
            continue
        first, lead = rows[0, 3:].tolist()
        if first == 0:
            cursor += int(placeholders[cursor:].nonzero()[0]) - lead
        start = cursor - first
        base = placed[:, start - 1].max() + 1 if start else 0
        placed[:, cursor : cursor + len(rows)] = base + rows[:, :3].T.to(placed)
        cursor += len(rows)
    return placed
