"""Divide a whole number of tokens in proportion to fractional quotas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


def budget_quotas(share: Tensor, alpha: Tensor) -> Tensor:
    """Return which fraction of the budget each of T units gets, [T] (Eq. budget).

    The fraction ``alpha`` in [0, 1] is spread evenly over the units. The rest is divided in
    proportion to ``share`` [T], the novelty scaled to sum 1.
    """
    return alpha / len(share) + (1 - alpha) * share


def largest_remainder(shares: Tensor, total: int, cap: int, floor: int = 0) -> Tensor:
    """Return integer budgets [T] that sum to ``total``, proportional to ``shares`` [T] >= 0.

    Every budget lies in [``floor``, ``cap``]. A unit whose quota is outside gets the nearer bound,
    and the rest of ``total`` is divided over the other units in proportion. Quotas are rounded
    down, and the tokens left go to the units with the largest fractional parts, ties to the earlier
    unit. If all shares are zero, they count as equal. The result is int64 on the CPU. Raises
    ``ValueError`` if no budgets within the bounds sum to ``total``.
    """
    count = len(shares)
    if not count * floor <= total <= count * cap:
        raise ValueError(f"total={total} must be in [{count * floor}, {count * cap}]")
    quotas = _capped(shares.detach().double().cpu().tolist(), total, cap, floor)
    budgets = [math.floor(quota + 1e-9) for quota in quotas]
    order = sorted(range(count), key=lambda unit: budgets[unit] - quotas[unit])
    missing = total - sum(budgets)
    while missing > 0:
        room = [unit for unit in order if budgets[unit] < cap][:missing]
        for unit in room:
            budgets[unit] += 1
        missing -= len(room)
    return torch.tensor(budgets, dtype=torch.int64)  # without dtype, an empty list gives float32


def _capped(shares: Sequence[float], total: int, cap: int, floor: int) -> list[float]:
    """Return fractional quotas that sum to ``total``, each in [``floor``, ``cap``].

    Units that are at neither bound have quotas proportional to their ``shares``.
    """
    quotas: dict[int, float] = {}  # unit -> quota, for units that reached a bound
    while True:
        free = [unit for unit in range(len(shares)) if unit not in quotas]
        rest, whole = total - sum(quotas.values()), math.fsum(shares[unit] for unit in free)
        even = 1.0 / max(len(free), 1)
        own = {unit: rest * (shares[unit] / whole if whole > 0 else even) for unit in free}
        over = [unit for unit in free if own[unit] > cap]
        bound = over or [unit for unit in free if own[unit] < floor]
        if not bound:
            own |= quotas
            return [own[unit] for unit in range(len(shares))]
        quotas |= dict.fromkeys(bound, float(cap if over else floor))
