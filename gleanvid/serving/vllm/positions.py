"""M-RoPE positions in prompts whose videos are pruned before the language model.

Kept tokens have the positions that they have without pruning. So the text around a video also has
the same positions, and these are known before the vision tower runs (:func:`around`). Only the
positions within an image or video depend on which tokens are kept. They are appended to its
embeddings as extra columns (:func:`to_columns`), because a prompt may arrive in chunks or with its
beginning in a cache. :func:`place` writes them into the prompt as the embeddings arrive.

Terms: a medium is an image or a video. N: number of tokens of a prompt. n: number of embeddings of
one medium: its kept tokens and, with Qwen3-VL, the text tokens of its frames. A position has three
numbers: time, height and width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

Grid = tuple[int, int, int]  # units, rows and columns of tokens
# Shifts that split a number into three bytes: bfloat16 holds whole numbers up to 255 exactly.
_DIGITS = (16, 8, 0)
CARRIED = 5 * len(_DIGITS)  # number of columns that :func:`to_columns` returns


@dataclass(frozen=True)
class Medium:
    """An image or a video in a prompt: index of its first token, and number of its tokens.

    ``extent``: by how much positions advance from the medium's start to the text behind it.
    """

    start: int
    length: int
    extent: int


def around(length: int, media: Sequence[Medium]) -> tuple[Tensor, int]:
    """Return the positions of a prompt's tokens, int64 [3, N], and the position after them.

    All tokens of a medium get its last position until :func:`place` fills in their own.
    """
    text = torch.ones(length, dtype=torch.long)
    jumps = torch.zeros(length + 1, dtype=torch.long)
    for medium in media:
        end = medium.start + medium.length
        text[medium.start : end] = 0
        jumps[medium.start] += medium.extent - 1
        jumps[end] += 1  # text after the medium continues at the next position
    positions = text.cumsum(0) - text + jumps[:length].cumsum(0)
    return positions.expand(3, -1).clone(), int(text.sum() + jumps.sum())


def frame_rows(visual: Tensor, starts: Tensor, keep: Tensor, grid: Grid) -> Tensor:
    """Return the positions [n, 3] of a pruned video's embeddings in a prompt of Qwen3-VL.

    The n embeddings are the K kept tokens and the text of every frame: its time stamp, and the
    tokens that mark its start and end. ``visual`` bool [n]: True for kept tokens. ``starts`` bool
    [n]: True for the token that marks a frame's start. ``keep`` int64 [K]: indices of the kept
    tokens.
    """
    _, rows, columns = grid
    text = (~visual).long()
    before = text.cumsum(0) - text + max(rows, columns) * (starts.cumsum(0) - starts.long())
    positions = before[:, None].expand(-1, 3).clone()
    positions[visual] -= max(rows, columns)  # ``before`` already counts the token's own frame
    positions[visual, 1] += keep // columns % rows
    positions[visual, 2] += keep % columns
    return positions


def frame_extent(num_text: int, grid: Grid) -> int:
    """Return by how much positions advance over a video in a prompt of Qwen3-VL.

    ``num_text``: number of the video's text tokens (time stamps, start and end of its frames).
    """
    return num_text + grid[0] * max(grid[1:])


def grid_rows(keep: Tensor, grid: Grid, per_unit: float = 1.0) -> Tensor:
    """Return the positions [K, 3] of an image's kept tokens, or of a video's in Qwen2.5-VL.

    ``per_unit``: number of time positions from one temporal unit to the next.
    """
    _, rows, columns = grid
    unit = keep // (rows * columns)
    time = (unit.double() * per_unit).long()
    return torch.stack([time, keep // columns % rows, keep % columns], 1)


def grid_extent(grid: Grid, per_unit: float = 1.0) -> int:
    """Return by how much positions advance over an image, or over a video in Qwen2.5-VL."""
    return max(int((grid[0] - 1) * per_unit) + 1, *grid[1:])


def to_columns(positions: Tensor, lead: int = 0) -> Tensor:
    """Encode positions [n, 3] of one medium as columns [n, CARRIED] of bytes (0 to 255).

    Positions count from the medium's start. Each row also has the index of its embedding within
    the medium, and ``lead``: the number of the medium's embeddings before its first visual token.
    """
    index = torch.arange(len(positions), device=positions.device)
    values = torch.cat([positions, index[:, None], torch.full_like(index, lead)[:, None]], 1)
    return torch.stack([values >> shift & 255 for shift in _DIGITS], 2).flatten(1)


def from_columns(columns: Tensor) -> Tensor:
    """Decode the columns of :func:`to_columns`: int64 [n, 5] on the CPU.

    The five numbers are time, height, width, the index of the embedding within its medium, and the
    number of the medium's embeddings before its first visual token.
    """
    digits = columns.cpu().long().unflatten(1, (5, len(_DIGITS)))
    return (digits << torch.tensor(_DIGITS)).sum(2)


def place(
    positions: Tensor, placeholders: Tensor, chunk: Sequence[Tensor], computed: int
) -> Tensor:
    """Return a copy of a prompt's positions [3, N] with those of one chunk's media filled in.

    ``placeholders`` bool [N]: True for visual tokens. ``chunk``: for each medium in the chunk, in
    order, the result of :func:`from_columns`. ``computed``: number of prompt tokens before the
    chunk. A medium that began in an earlier chunk continues there.
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
