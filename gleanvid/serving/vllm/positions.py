"""M-RoPE positions in prompts whose videos are pruned before the language model.

Kept tokens have the positions that they have in the whole grid. So the text around a video has the
same positions as without pruning, known before the vision tower runs (:func:`around`). Only the
positions of a medium's own rows depend on which tokens are kept. These positions are appended to
the rows as columns (:func:`to_columns`), because a prompt may arrive in chunks or with its
beginning in a cache, and are filled into the prompt as the rows arrive (:func:`place`).

Terms: a medium is an image or a video. N: tokens of a prompt. n: rows of one medium (kept tokens;
with Qwen3-VL also the text tokens of its frames). Positions [3, N]: time, height and width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

Grid = tuple[int, int, int]  # units, rows and columns of tokens
_DIGITS = (16, 8, 0)  # bits to shift for each byte; bfloat16 columns hold a byte exactly, not more
CARRIED = 5 * len(_DIGITS)  # number of columns that :func:`to_columns` returns


@dataclass(frozen=True)
class Medium:
    """An image or a video in a prompt: first token, number of tokens, number of positions."""

    start: int
    length: int
    extent: int


def around(length: int, media: Sequence[Medium]) -> tuple[Tensor, int]:
    """Return the positions of a prompt's N tokens, int64 [3, N], and the position after the prompt.

    All rows of a medium have its last position until :func:`place` fills in their own.
    """
    text = torch.ones(length, dtype=torch.long)
    jumps = torch.zeros(length + 1, dtype=torch.long)
    for medium in media:
        end = medium.start + medium.length
        text[medium.start : end] = 0
        jumps[medium.start] += medium.extent - 1  # the medium's rows get its last position
        jumps[end] += 1  # text after the medium continues at the next position
    positions = text.cumsum(0) - text + jumps[:length].cumsum(0)
    return positions.expand(3, -1).clone(), int(text.sum() + jumps.sum())


def frame_rows(visual: Tensor, starts: Tensor, keep: Tensor, grid: Grid) -> Tensor:
    """Return positions [n, 3] of a pruned video's rows in a prompt of Qwen3-VL.

    The n rows are the K kept tokens and the text of every frame: its time stamp, and the tokens
    that mark its start and end. ``visual`` bool [n]: True for kept tokens. ``starts`` bool [n]:
    True for the token that marks a frame's start. ``keep`` int64 [K]: indices of the kept tokens.
    """
    _, rows, columns = grid
    text = (~visual).long()
    before = text.cumsum(0) - text + max(rows, columns) * (starts.cumsum(0) - starts.long())
    positions = before[:, None].expand(-1, 3).clone()
    positions[visual] -= max(rows, columns)  # ``starts`` already counts the token's own frame
    positions[visual, 1] += keep // columns % rows
    positions[visual, 2] += keep % columns
    return positions


def frame_extent(num_text: int, grid: Grid) -> int:
    """Return how many positions a video of Qwen3-VL takes; ``num_text``: its text tokens."""
    return num_text + grid[0] * max(grid[1:])


def grid_rows(keep: Tensor, grid: Grid, per_unit: float = 1.0) -> Tensor:
    """Return positions [K, 3] of the kept tokens of an image, or of a video of Qwen2.5-VL.

    ``per_unit``: number of time positions from one temporal unit to the next.
    """
    _, rows, columns = grid
    unit = keep // (rows * columns)
    time = (unit.double() * per_unit).long()
    return torch.stack([time, keep // columns % rows, keep % columns], 1)


def grid_extent(grid: Grid, per_unit: float = 1.0) -> int:
    """Return how many positions an image, or a video of Qwen2.5-VL, takes."""
    return max(int((grid[0] - 1) * per_unit) + 1, *grid[1:])


def to_columns(positions: Tensor, lead: int = 0) -> Tensor:
    """Encode positions [n, 3] of one medium as columns [n, CARRIED] of bytes (0 to 255).

    Positions count from the medium's start. The columns also hold each row's number within the
    medium, and ``lead``, the number of the medium's rows before its first visual token.
    """
    index = torch.arange(len(positions), device=positions.device)
    values = torch.cat([positions, index[:, None], torch.full_like(index, lead)[:, None]], 1)
    return torch.stack([values >> shift & 255 for shift in _DIGITS], 2).flatten(1)


def from_columns(columns: Tensor) -> Tensor:
    """Decode the columns of :func:`to_columns`: int64 [n, 5] on the CPU.

    The five numbers are time, height, width, the row's number in the medium, and ``lead``.
    """
    digits = columns.cpu().long().unflatten(1, (5, len(_DIGITS)))
    return sum(
        (digits[..., place] << shift for place, shift in enumerate(_DIGITS)), digits.new_zeros(())
    )


def place(
    positions: Tensor, placeholders: Tensor, chunk: Sequence[Tensor], computed: int
) -> Tensor:
    """Return a prompt's positions [3, N] with those of one chunk's media rows filled in.

    ``placeholders`` bool [N]: True for visual tokens. ``chunk``: result of :func:`from_columns`
    for each medium's rows in the chunk, in order. ``computed``: number of prompt tokens that the
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
