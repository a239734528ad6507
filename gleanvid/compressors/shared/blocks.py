"""Blocks of neighbouring tokens, in space and time.

The clip is cut into windows of units, and each window into near-square blocks of positions. The
baselines ``Pool`` and ``Resize`` average the tokens of each block. A grid is cut into horizontal
bands, and each band into blocks; bands may differ by one block, so any budget can be met.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import torch

from gleanvid.compressors.shared.records import merge_record
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor


def averaged_blocks(tokens: VideoTokens, windows: int, budget: int) -> Compression:
    """Average the tokens over blocks in space and time; return the compression record.

    The clip is cut into ``windows`` windows of units, and these into ``budget`` blocks in total.
    Two windows differ by at most one unit in length and by at most one in their number of blocks. A
    window without a block is dropped. An average has the index of the token at the centre of its
    block in the first unit of its window. Raises ``ValueError`` if ``budget`` is more than
    ``windows`` times the number of tokens of a unit.
    """
    units, rows, columns = tokens.grid
    per_unit = rows * columns
    if budget > windows * per_unit:
        raise ValueError(
            f"{windows} windows of {per_unit} positions cannot be cut into {budget} blocks"
        )
    home = torch.full((units, per_unit), -1)
    weight = torch.zeros(units, per_unit)
    counts = even_shares(budget, windows)
    for (first, last), count in zip(pairwise(even_bounds(units, windows)), counts, strict=True):
        if count:
            centre, size = grid_blocks(rows, columns, count)
            home[first:last] = first * per_unit + centre
            weight[first:last] = 1.0 / (size * (last - first))
    device = tokens.features.device
    return merge_record(tokens, home.flatten().to(device), weight.flatten().to(device))


@cache
def grid_blocks(rows: int, columns: int, count: int) -> tuple[Tensor, Tensor]:
    """Cut a token grid into ``count`` near-square blocks of near-equal area.

    Returns two tensors [rows * columns]: for each position, the position at the centre of its block
    (int64) and the number of positions in its block.
    """
    bands = round((count * rows / columns) ** 0.5)
    bands = min(max(bands, -(-count // columns), 1), rows, count)
    centre, size = torch.empty(rows, columns, dtype=torch.long), torch.empty(rows, columns)
    shares = even_shares(count, bands)
    for (top, bottom), share in zip(pairwise(even_bounds(rows, bands)), shares, strict=True):
        for left, right in pairwise(even_bounds(columns, share)):
            place = (top + bottom - 1) // 2 * columns + (left + right - 1) // 2
            centre[top:bottom, left:right] = place
            size[top:bottom, left:right] = (bottom - top) * (right - left)
    return centre.flatten(), size.flatten()


def even_bounds(total: int, parts: int) -> list[int]:
    """Return bounds that cut 0 to ``total`` into ``parts`` ranges of lengths at most 1 apart."""
    return [part * total // parts for part in range(parts + 1)]


def even_shares(total: int, parts: int) -> list[int]:
    """Split ``total`` into ``parts`` integers that differ by at most one.

    The larger ones are spread evenly over the list.
    """
    return [high - low for low, high in pairwise(even_bounds(total, parts))]
