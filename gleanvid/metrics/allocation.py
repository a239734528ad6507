"""Allocation over time: how unevenly tokens and novelty are spread over the units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from gleanvid.ops.cells import Cells
from gleanvid.ops.novelty import history_residuals
from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor


def gini(values: Tensor) -> float:
    """Gini coefficient (Eq. gini) of [T] values >= 0: 0 all equal, 1 - 1/T all in one; 0 of zeros.

    Raises ``ValueError`` for negative values.
    """
    ordered = values.double().sort().values
    if len(ordered) and ordered[0] < 0:
        raise ValueError("values must not be negative")
    count, total = len(ordered), float(ordered.sum())
    if total <= 0:
        return 0.0
    rank = torch.arange(1, count + 1, dtype=torch.float64, device=ordered.device)
    return max(0.0, 2 * float((rank * ordered).sum()) / (count * total) - (count + 1) / count)


def budget_gini(record: Compression) -> float:
    """Gini coefficient of the tokens kept per unit."""
    return gini(record.budgets)


def novelty(
    debiased: Tensor,
    grid: tuple[int, int, int],
    history: int | None = None,
    neighborhood: int = 2,
    epsilon: float = 1e-4,
) -> Tensor:
    """Temporal novelty R_t (Eq. novelty) of the clip: [L, D] -> float64 [T], for any method.

    ``history``: preceding units looked at (None: all); ``neighborhood``: side of the pooling cell.
    """
    units, rows, columns = grid
    cells = Cells(rows, columns, neighborhood, debiased.device)
    prototypes = cells.means(debiased.float().view(units, rows * columns, -1))
    residuals = history_residuals(prototypes, history, epsilon)  # [T, C]
    return (residuals * cells.sizes).sum(1).cpu()
