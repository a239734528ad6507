"""What tokens kept at random would give at the same budget: a yardstick for other numbers.

A rank or an error depends first of all on how many tokens are kept. Against random keeping the
budget cancels out, and what is left is the choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from gleanvid.metrics.coverage import coverage_error
from gleanvid.metrics.diversity import effective_dimension
from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor

DRAWS = 3


@dataclass(frozen=True)
class RandomKeeping:
    """Means over a few draws."""

    effective_rank: float
    coverage_error: float


def random_keeping(
    debiased: Tensor, grid: tuple[int, int, int], kept: int, draws: int = DRAWS
) -> RandomKeeping:
    """``kept`` of the debiased tokens [L, D], every set of them as likely as any other."""
    records = [_drawn(len(debiased), grid, kept, seed) for seed in range(draws)]
    records = [record.to(debiased.device) for record in records]
    return RandomKeeping(
        sum(effective_dimension(debiased, record) for record in records) / draws,
        sum(coverage_error(debiased, record) for record in records) / draws,
    )


def _drawn(total: int, grid: tuple[int, int, int], kept: int, seed: int) -> Compression:
    order = torch.randperm(total, generator=torch.Generator().manual_seed(seed))
    return Compression.pruned(order[:kept].sort().values, grid, num_tokens=total)
