"""M-RoPE positions in prompts whose videos are pruned before the language model.

Kept tokens have the positions of the whole grid. So the text around a video has the positions that
it would have without pruning, and they are known before the vision tower runs (:func:`around`).
The choice decides only the positions of a medium's own rows. They travel with the rows
(:func:`to_columns`), because a prompt may arrive in chunks, or with its beginning in a cache, and
are filled in as the rows come (:func:`place`).

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
    """An image or a video in a prompt: its rows, and how many positions it takes."""

    start: int
    length: int
    extent: int


def around(length: int, media: Sequence[Medium]) -> tuple[Tensor, int]:
    """Return positions int64 [3, N] of all text, and the position that follows the prompt.

    A medium's rows have its last position until :func:`place` fills them in.
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
    """Return positions [n, 3] of the rows of a video of Qwen3-VL.

    Every frame has its own time stamp and marks. ``visual`` bool [n]: tokens of the video, the
    others are text; ``starts`` bool [n]: the mark before each frame's tokens; ``keep`` int64 [K]:
    indices of the kept tokens in the grid.
    """
    _, rows, columns = grid
    text = (~visual).long()
    before = text.cumsum(0) - text + max(rows, columns) * (starts.cumsum(0) - starts.long())
    positions = before[:, None].expand(-1, 3).clone()
    positions[visual] -= max(rows, columns)  # the mark of its own frame is counted already
    positions[visual, 1] += keep // columns % rows
    positions[visual, 2] += keep % columns
    return positions


def frame_extent(num_text: int, grid: Grid) -> int:
    """Count the positions of a video of Qwen3-VL with ``num_text`` columns of stamps and marks."""
    return num_text + grid[0] * max(grid[1:])


def grid_rows(keep: Tensor, grid: Grid, per_unit: float = 1.0) -> Tensor:
    """Return positions [K, 3] of an image, or of a video of Qwen2.5-VL; ``per_unit``: time."""
    _, rows, columns = grid
    unit = keep // (rows * columns)
    time = (unit.double() * per_unit).long()
    return torch.stack([time, keep // columns % rows, keep % columns], 1)


def grid_extent(grid: Grid, per_unit: float = 1.0) -> int:
    """Count the positions of an image, or of a video of Qwen2.5-VL."""
    return max(int((grid[0] - 1) * per_unit) + 1, *grid[1:])


def to_columns(positions: Tensor, lead: int = 0) -> Tensor:
    """Encode positions [n, 3] of one medium as columns [n, CARRIED] of numbers up to 255.

    Positions count from the medium's start. The columns also hold the number of each row, and
    ``lead``, the number of rows before the medium's first placeholder in the prompt.
    """
    index = torch.arange(len(positions), device=positions.device)
    values = torch.cat([positions, index[:, None], torch.full_like(index, lead)[:, None]], 1)
    return torch.stack([values >> shift & 255 for shift in _DIGITS], 2).flatten(1)


def from_columns(columns: Tensor) -> Tensor:
    """Decode columns: int64 [n, 5] on the CPU of time, height, width, row of the medium, lead."""
    digits = columns.cpu().long().unflatten(1, (5, len(_DIGITS)))
    return sum(
        (digits[..., place] << shift for place, shift in enumerate(_DIGITS)), digits.new_zeros(())
    )


def place(
    positions: Tensor, placeholders: Tensor, chunk: Sequence[Tensor], computed: int
) -> Tensor:
    """Return positions [3, N] with those of the rows in a chunk of the prompt filled in.

    ``placeholders`` bool [N]: columns of tokens of an image or a video; ``chunk``: result of
    :func:`from_columns` for each medium's rows, in order; ``computed``: number of columns that the
    engine has computed. A medium that began in an earlier chunk continues at ``computed``.
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
