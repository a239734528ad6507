"""Pooling cells: the spatial neighbourhoods of a token grid."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


class Cells:
    """Cells of ``size`` x ``size`` positions that tile a grid from the top left.

    Cells at the right and bottom edges are smaller if ``size`` does not divide the grid's sides.
    ``of_position`` int64 [N] is the number of each position's cell, of C cells in row-major order.
    ``sizes`` float32 [C] is the number of positions in each cell. Both are computed on the host,
    which avoids a device-to-host sync.
    """

    def __init__(self, rows: int, columns: int, size: int, device: torch.device) -> None:
        per_row = -(-columns // size)
        places = [r // size * per_row + c // size for r in range(rows) for c in range(columns)]
        counts = [0] * (places[-1] + 1)
        for cell in places:
            counts[cell] += 1
        self._grid, self._size = (rows, columns), size
        self.of_position = torch.tensor(places, device=device)
        self._sizes = torch.tensor([*counts, len(places)], dtype=torch.float32, device=device)
        self.sizes = self._sizes[:-1]

    def means_and_whole(self, features: Tensor) -> Tensor:
        """Average the features [T, N, D] over every cell, then over the whole unit: [T, C + 1, D].

        The means of the unit are the last of the C + 1.
        """
        cells, across = len(self.sizes), -(-self._grid[1] // self._size)
        means = features.new_zeros(len(features), cells + 1, features.shape[2])
        by_cell = means[:, :cells].unflatten(1, (cells // across, across))
        by_position = features.unflatten(1, self._grid)
        for row, column in product(range(self._size), repeat=2):  # position within a cell
            part = by_position[:, row :: self._size, column :: self._size]
            by_cell[:, : part.shape[1], : part.shape[2]].add_(part)
        torch.sum(means[:, :cells], 1, out=means[:, cells])
        return means.div_(self._sizes[:, None])
