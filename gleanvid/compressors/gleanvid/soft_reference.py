"""Soft GleanVID in float64, for its default settings: the steps that differ from GleanVID's.

The other steps are those of :mod:`.reference`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from gleanvid.compressors.gleanvid.reference import (
    CONSTANT,
    Cells,
    best,
    debias,
    local_scores,
    min_max,
    novelty,
    pooling_cells,
    unit_budgets,
)

NOISE = 1.0


def kept_tokens(features: Tensor, grid: tuple[int, int, int], ratio: float) -> set[int]:
    """Indices t*N + n of the tokens [T*N, D] that Soft GleanVID keeps."""
    x = features.double()
    debiased = debias(x).view(grid[0], -1, x.shape[1])
    cells = pooling_cells(*grid[1:])
    r = novelty(debiased, cells)
    r[0] = centred(debiased[0], debiased.mean((0, 1)), cells)
    total = max(1, math.floor(ratio * len(features) + 1e-9))
    return select(x.view_as(debiased), debiased, cells, unit_budgets(r, total, debiased.shape[1]))


def centred(unit: Tensor, mean: Tensor, cells: Cells) -> Tensor:
    """Novelty of the first unit [N, D], a scalar: distance of its prototypes from ``mean`` [D]."""
    return torch.stack([len(c) * (unit[c].mean(0) - mean).norm() for c in cells]).sum()


def select(x: Tensor, debiased: Tensor, cells: Cells, budgets: list[int]) -> set[int]:
    """Flat indices t*N + n of the kept tokens; arguments as in :func:`.reference.select`."""
    scale = debiased.norm(dim=-1).max()
    variance = NOISE * debiased.square().sum(-1).mean()  # s2
    inverse = torch.eye(x.shape[-1]).double()  # (I + X_S^T X_S / s2)^-1
    kept: set[int] = set()
    for unit, budget in enumerate(budgets):
        v = ((debiased[unit] @ inverse) * debiased[unit]).sum(1).sqrt()
        score = min_max(local_scores(x[unit], cells), CONSTANT)
        chosen = best(score + min_max(v, float(CONSTANT * scale)), budget)
        kept |= {unit * x.shape[1] + place for place in chosen}
        for token in debiased[unit][chosen]:  # Sherman-Morrison: one more row of X_S
            seen = inverse @ token
            inverse = inverse - torch.outer(seen, seen) / (variance + token @ seen)
    return kept
