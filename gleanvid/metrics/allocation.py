"""Metrics of how unevenly kept tokens and novelty are distributed over time."""

from __future__ import annotations

import torch

from gleanvid.compressors.gleanvid.budget import history_residuals, novelty_shares
from gleanvid.compressors.gleanvid.cells import Cells
from gleanvid.types import Compression


def gini(values: torch.Tensor) -> float:
    """Return the Gini coefficient of non-negative values (Eq. gini).

    Args:
        values: [T], at least 0.

    Returns:
        The coefficient: 0 if all values are equal (or all zero), at most 1 - 1/T, which is reached
        if only one value is not zero.

    Raises:
        ValueError: a value is negative.

    >>> round(gini(torch.tensor([1.0, 1.0, 2.0])), 3)
    0.167
    """
    if (values < 0).any():
        raise ValueError("values must not be negative")
    return float(novelty_shares(values)[1])


def budget_gini(record: Compression) -> float:
    """Return the Gini coefficient of the tokens kept per unit; 0 if all units keep as many."""
    return gini(record.budgets)


def novelty(
    debiased: torch.Tensor,
    grid: tuple[int, int, int],
    history: int | None = None,
    neighborhood: int = 2,
    epsilon: float = 1e-4,
) -> torch.Tensor:
    """Return the temporal novelty R_t of each unit of a clip (Eq. novelty).

    The novelty is a property of the clip alone, so it can be shown for any method.

    Args:
        debiased: tokens [L, D], see :func:`gleanvid.metrics.debiased`.
        grid: (T, rows, columns) with T * rows * columns = L.
        history: number of preceding units with which a cell is compared; None: all of them.
        neighborhood: side of the cells over which tokens are averaged, in tokens.
        epsilon: ridge, divided by the mean squared norm of a cell's averages in its history.

    Returns:
        The novelty, float64 [T] on the CPU. In the first unit everything counts as new.
    """
    units, rows, columns = grid
    cells = Cells(rows, columns, neighborhood, debiased.device)
    means = cells.means_and_whole(debiased.float().view(units, rows * columns, -1))
    # [T, C] for C cells per unit
    residuals = history_residuals(means[:, :-1], history, epsilon)
    return (residuals * cells.sizes).sum(1).cpu()
