"""Turning real-valued shares into whole tokens per unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


def largest_remainder(shares: Tensor, total: int, cap: int, floor: int = 0) -> Tensor:
    """Integer budgets [T] that sum to ``total``, proportional to ``shares`` [T] >= 0.

    Every budget lies in [``floor``, ``cap``]. A unit whose quota passes ``cap`` is filled and the
    rest is shared over the others in proportion; what rounding down leaves goes to the largest
    remainders, ties to the earlier unit. All-zero shares count as equal ones. Returns int64 on the
    CPU. Raises ``ValueError`` if ``total`` cannot be met.
    """
    count = len(shares)
    if not count * floor <= total <= count * cap:
        raise ValueError(f"total={total} must be in [{count * floor}, {count * cap}]")
    quotas = _capped(shares.detach().double().cpu(), float(total), float(cap), float(floor))
    budgets = (quotas + 1e-9).floor().long()
    order = torch.sort(quotas - budgets, descending=True, stable=True).indices
    missing = total - int(budgets.sum())
    while missing > 0:
        room = order[budgets[order] < cap][:missing]
        budgets[room] += 1
        missing -= len(room)
    return budgets


def _capped(shares: Tensor, total: float, cap: float, floor: float) -> Tensor:
    """Quotas [T] proportional to ``shares`` among the units that are at neither bound."""
    quotas = torch.zeros_like(shares)
    free = torch.ones_like(shares, dtype=torch.bool)
    while True:
        rest = total - float(quotas[~free].sum())
        weights = shares[free]
        whole = float(weights.sum())
        even = torch.full_like(weights, 1.0 / max(len(weights), 1))
        quotas[free] = rest * (weights / whole if whole > 0 else even)
        over, under = free & (quotas > cap), free & (quotas < floor)
        if not over.any() and not under.any():
            return quotas
        bound = over if over.any() else under
        quotas[bound] = cap if over.any() else floor
        free &= ~bound
