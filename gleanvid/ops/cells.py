"""Pooling cells: the spatial neighbourhoods of a token grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


class Cells:
    """Cells of ``size`` x ``size`` positions that tile a grid from the top left.

    At the right and bottom edge of an odd grid they are smaller. ``of_position`` int64 [N] is the
    cell that holds each position (C cells, row-major), ``sizes`` float32 [C] counts their
    positions. Built without reading anything back from the device.
    """

    def __init__(self, rows: int, columns: int, size: int, device: torch.device) -> None:
        per_row, per_column = -(-columns // size), -(-rows // size)
        row = torch.arange(rows, device=device) // size
        column = torch.arange(columns, device=device) // size
        self.of_position = (row[:, None] * per_row + column[None, :]).reshape(-1)
        ones = torch.ones(rows * columns, device=device)
        self.sizes = torch.zeros(per_row * per_column, device=device)
        self.sizes.index_add_(0, self.of_position, ones)

    def means(self, features: Tensor) -> Tensor:
        """Mean of every cell: [T, N, D] -> [T, C, D]."""
        sums = features.new_zeros(len(features), len(self.sizes), features.shape[-1])
        return sums.index_add_(1, self.of_position, features) / self.sizes[:, None]
