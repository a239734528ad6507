"""Pooling cells: the spatial neighbourhoods of a token grid.

Letters: T units, N = rows x columns positions, C cells, D width. Cells tile the grid from the top
left; at the right and bottom edge of an odd grid they are smaller.
"""

from __future__ import annotations

import torch
from torch import Tensor


def cell_of_position(rows: int, columns: int, size: int, device: torch.device) -> Tensor:
    """int64 [N]: the cell (numbered 0..C-1, row-major) that holds each position of the grid."""
    row = torch.arange(rows, device=device) // size
    column = torch.arange(columns, device=device) // size
    per_row = -(-columns // size)
    return (row[:, None] * per_row + column[None, :]).reshape(-1)


def cell_sizes(cells: Tensor) -> Tensor:
    """int64 [C]: positions in each cell."""
    return torch.bincount(cells)


def cell_means(features: Tensor, cells: Tensor) -> Tensor:
    """Mean of every cell: [T, N, D] -> [T, C, D]."""
    sizes = cell_sizes(cells)
    order = torch.argsort(cells, stable=True)
    units, _, width = features.shape
    sums = features.new_zeros(units, len(sizes), width)
    if bool((sizes == 1).all()):
        return features[:, order]
    sums.index_add_(1, cells, features)
    return sums / sizes.to(features.dtype)[:, None]
