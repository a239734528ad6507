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
    positions. They are laid out on the host: nothing is read back from the device.
    """

    def __init__(self, rows: int, columns: int, size: int, device: torch.device) -> None:
        per_row = -(-columns // size)
        places = [r // size * per_row + c // size for r in range(rows) for c in range(columns)]
        counts = [0] * (places[-1] + 1)
        for cell in places:
            counts[cell] += 1
        self.of_position = torch.tensor(places, device=device)
        self.sizes = torch.tensor(counts, dtype=torch.float32, device=device)

    def means(self, features: Tensor) -> Tensor:
        """Mean of every cell: [T, N, D] -> [T, C, D]."""
        return _weighted(self._averages(), features)

    def means_and_whole(self, features: Tensor) -> Tensor:
        """Mean of every cell, then that of the whole unit: [T, N, D] -> [T, C + 1, D]."""
        whole = self.sizes.new_full((1, features.shape[1]), 1.0 / features.shape[1])
        return _weighted(torch.cat([self._averages(), whole]), features)

    def _averages(self) -> Tensor:
        """Weights [C, N] of the positions in the mean of every cell."""
        cells = torch.arange(len(self.sizes), device=self.sizes.device)
        return (self.of_position == cells[:, None]) / self.sizes[:, None]


def _weighted(weights: Tensor, features: Tensor) -> Tensor:
    """[C, N] times every unit of [T, N, D]; ``matmul`` would copy the features to fold them."""
    return torch.bmm(weights.to(features).expand(len(features), -1, -1), features)
