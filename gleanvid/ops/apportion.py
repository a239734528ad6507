"""Share out a whole number of tokens in proportion to fractional quotas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


def budget_quotas(share: Tensor, alpha: Tensor) -> Tensor:
    """Fractional budgets over B [T] (Eq. budget): ``alpha`` spread evenly, the rest by novelty.

    ``share`` [T] is the normalised novelty, which sums to 1; ``alpha`` is a scalar in [0, 1].
    """
    return alpha / len(share) + (1 - alpha) * share


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
    quotas = _capped(shares.detach().double().cpu().tolist(), total, cap, floor)
    budgets = [math.floor(quota + 1e-9) for quota in quotas]
    order = sorted(range(count), key=lambda unit: budgets[unit] - quotas[unit])
    missing = total - sum(budgets)
    while missing > 0:
        room = [unit for unit in order if budgets[unit] < cap][:missing]
        for unit in room:
            budgets[unit] += 1
        missing -= len(room)
    return torch.tensor(budgets, dtype=torch.int64)  # also for an empty list


def _capped(shares: Sequence[float], total: int, cap: int, floor: int) -> list[float]:
    """Quotas [T] proportional to ``shares`` among the units that are at neither bound."""
    quotas: dict[int, float] = {}  # quotas of units that reached a bound
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
