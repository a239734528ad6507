"""GleanVID: novelty-guided budgets per unit, then tokens that complement what is already kept.

Temporal Novelty-guided Budgeting (Algorithm 1 of the paper) spreads the budget over the units;
Complementary Token Selection (Algorithm 2) picks tokens unit by unit. The numerical guards
are ours: rounding noise must neither enter the basis nor, once a scene is explained,
decide the selection.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.ops.budgets import largest_remainder
from gleanvid.ops.cells import Cells
from gleanvid.ops.subspace import (
    ResidualBasis,
    history_residuals,
    remove_directions,
    top_directions,
)
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_BASIS_FLOOR = 1e-5  # of the largest norm: below this a QR direction is rounding noise
_SATURATED = 1e-3  # of the largest norm: below this a unit has no complementary evidence left
_CONSTANT = 1e-6  # spread of LRS below which float32 cosines cannot tell tokens apart


@dataclass(frozen=True)
class GleanVID(Compressor):
    """The method of the paper, with every hyper-parameter it reports.

    >>> record = GleanVID(0.5).compress(VideoTokens(torch.rand(24, 8), (2, 3, 4)))
    >>> record.num_kept, sorted(record.scores)
    (12, ['joint', 'lrs', 'novelty', 'scs'])
    """

    name: ClassVar[str] = "gleanvid"
    title: ClassVar[str] = "GleanVID"
    paper: ClassVar[str] = "GleanVID (the paper this library implements)"
    renamed: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"temperature": "tau", "history": "novelty_history"}
    )

    alpha_min: float = setting(
        0.2, "Least weight of the uniform budget, for bursty videos", low=0.0, high=1.0, step=0.05
    )
    alpha_max: float = setting(
        0.6,
        "Greatest weight of the uniform budget, for steady videos",
        low=0.0,
        high=1.0,
        step=0.05,
    )
    tau: float = setting(
        4.0,
        "Sharpness of the local representativeness score",
        low=0.0,
        above_low=True,
        step=0.5,
    )
    debias_rank: int = setting(1, "Shared context directions removed first", low=0, step=1)
    novelty_history: int | None = setting(
        None,
        "Preceding units that novelty is measured against",
        kind=int,
        low=1,
        step=1,
        optional="all preceding units",
    )
    budget_neighborhood: int = setting(
        2, "Side of the pooling cell for novelty, in tokens (1 = point-wise)", low=1, step=1
    )
    local_neighborhood: int = setting(
        2, "Side of the pooling cell for the local score, in tokens", low=1, step=1
    )
    orth_tolerance: float = setting(
        1e-4, "Relative size below which a direction counts as explained", low=0.0, above_low=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.alpha_min > self.alpha_max:
            raise ValueError(
                f"alpha_min={self.alpha_min!r} must be in [0, alpha_max={self.alpha_max!r}]"
            )

    def compress(self, tokens: VideoTokens) -> Compression:
        features = tokens.features.detach().float()
        mean = features.mean(0)
        debiased = remove_directions(
            features, mean, top_directions(features, mean, self.debias_rank)
        )
        budgets, scores, trace = self._budget(tokens, debiased)
        keep, more_scores, more_trace = self._select(tokens, features, debiased, budgets)
        return Compression.pruned(keep, tokens.grid, scores | more_scores, trace | more_trace)

    def _budget(
        self, tokens: VideoTokens, debiased: Tensor
    ) -> tuple[list[int], dict[str, Tensor], dict[str, Tensor]]:
        """Algorithm 1: tokens per unit, with the novelty that decided them."""
        units, rows, columns = tokens.grid
        cells = Cells(rows, columns, self.budget_neighborhood, debiased.device)
        prototypes = cells.means(debiased.view(units, rows * columns, -1))
        residuals = history_residuals(
            prototypes, self.novelty_history, self.orth_tolerance
        )  # [T, C]
        novelty = (residuals * cells.sizes).sum(1)  # R_t
        share, gini = novelty_shares(novelty)
        alpha = self.alpha_max - (self.alpha_max - self.alpha_min) * gini  # Eq. adaptive_alpha
        quota = self._quota(tokens, share, alpha)
        budgets = largest_remainder(quota, self.budget(tokens), rows * columns)
        trace = {"novelty": novelty, "share": share, "gini": gini, "alpha": alpha}
        return budgets.tolist(), {"novelty": residuals[:, cells.of_position].flatten()}, trace

    def _quota(self, tokens: VideoTokens, share: Tensor, alpha: Tensor) -> Tensor:
        """Share of the budget due to every unit [T] (Eq. budget over B)."""
        return alpha / len(share) + (1 - alpha) * share

    def _select(
        self, tokens: VideoTokens, features: Tensor, debiased: Tensor, budgets: list[int]
    ) -> tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]:
        """Algorithm 2: the kept indices, unit by unit, each judged against all units before it."""
        per_unit = tokens.tokens_per_unit
        local = self._local_scores(tokens, features)  # [T, N]
        basis = self._evidence(debiased, sum(budgets))
        complement, joint, ranks, kept = [], [], [], []
        for unit, budget in enumerate(budgets):
            first, after = unit * per_unit, (unit + 1) * per_unit
            residual = basis.energy[first:after].sqrt()
            score = self._score(local[unit], residual, basis.scale)
            if budget:
                chosen = torch.sort(score, descending=True, stable=True).indices[:budget]
                kept.append(chosen.sort().values + first)
                basis.absorb(chosen + first, after)
            complement.append(residual)
            joint.append(score)
            ranks.append(basis.rank)
        scores = {"lrs": local.flatten(), "scs": torch.cat(complement), "joint": torch.cat(joint)}
        return torch.cat(kept), scores, {"basis_rank": torch.stack(ranks)}

    def _evidence(self, debiased: Tensor, budget: int) -> ResidualBasis:
        """What the tokens kept so far leave unexplained."""
        return ResidualBasis(debiased, budget, self.orth_tolerance, _BASIS_FLOOR)

    def _score(self, local: Tensor, residual: Tensor, scale: Tensor) -> Tensor:
        """Joint score g [N] of one unit (Eq. joint_score) with the saturation guard."""
        unsaturated = residual.max() > _SATURATED * scale
        return min_max(local, _CONSTANT) + min_max(residual) * unsaturated

    def _local_scores(self, tokens: VideoTokens, features: Tensor) -> Tensor:
        """Local representativeness u_{t,n} (Eq. ncd) on raw features: float64 [T, N]."""
        units, rows, columns = tokens.grid
        cells = Cells(rows, columns, self.local_neighborhood, features.device)
        grid = features.view(units, rows * columns, -1)
        near = torch.cat(
            [_cosine(unit, cells.means(unit[None])[0, cells.of_position]) for unit in grid]
        )
        whole = torch.cat([_cosine(unit, unit.mean(0, keepdim=True)) for unit in grid])
        sharpened = self.tau * (near - whole).double().view(units, -1)
        return torch.nn.functional.softplus(sharpened) / self.tau


def novelty_shares(novelty: Tensor) -> tuple[Tensor, Tensor]:
    """Share of every unit [T] and the Gini coefficient (Eq. gini); equal where all is zero."""
    units, total = len(novelty), novelty.sum()
    rank = torch.arange(1, units + 1, dtype=novelty.dtype, device=novelty.device)
    flat = total <= 0
    safe = torch.where(flat, 1.0, total)
    share = torch.where(flat, 1.0 / units, novelty / safe)
    gini = 2 * (rank * novelty.sort().values).sum() / (units * safe) - (units + 1) / units
    return share, torch.where(flat, 0.0, gini.clamp(0, 1))


def _cosine(rows: Tensor, references: Tensor) -> Tensor:
    """Row-wise cosine [N]; 0 where either vector is zero."""
    product = (rows * references).sum(-1)
    size = rows.norm(dim=-1) * references.norm(dim=-1)
    return torch.where(size > 0, product / torch.where(size > 0, size, 1.0), 0.0)


def min_max(score: Tensor, spread: float = 0.0) -> Tensor:
    """Scale [N] to [0, 1]; all zeros where the values lie within ``spread`` of each other."""
    low, high = torch.aminmax(score)
    wide = high - low > spread
    return torch.where(wide, (score - low) / torch.where(wide, high - low, 1.0), 0.0)
