"""GleanVID with one part replaced: the variants of the paper's ablation tables.

Each part can be exchanged while the other stays: how the budget is spread over the units, and how
tokens are scored within one. The defaults are GleanVID itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import setting
from gleanvid.compressors.gleanvid import GleanVID, min_max
from gleanvid.compressors.vcast import VCast
from gleanvid.ops.content_seed import content_generator
from gleanvid.ops.subspace import ResidualBasis
from gleanvid.types import VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_STATIC = ("random", "vcast")  # selections that look at nothing kept before


@dataclass(frozen=True)
class Ablation(GleanVID):
    """GleanVID's own settings, and what replaces each of its two parts.

    ``budgeting`` "fixed" uses alpha = 0.5. ``selection`` "pairwise" puts, in place of the subspace
    score, a candidate's least distance 1 - cosine to the tokens kept so far (in the first unit: to
    the mean). ``seed`` counts where something is random, as in ``Random``.
    """

    name: ClassVar[str] = "ablation"
    title: ClassVar[str] = "Ablation"
    paper: ClassVar[str] = "ablation variants of the GleanVID paper"

    budgeting: str = setting(
        "adaptive",
        "How the budget is spread over the units",
        choices=("adaptive", "fixed", "uniform", "random", "vcast"),
    )
    selection: str = setting(
        "lrs+scs",
        "How tokens are scored within a unit",
        choices=("lrs+scs", "lrs", "scs", "pairwise", "vcast", "random"),
    )
    seed: int = setting(0, "Seed of the random variants", low=0, high=2**31 - 1, step=1)

    @property
    def is_random(self) -> bool:
        return "random" in (self.budgeting, self.selection)

    def _quota(self, tokens: VideoTokens, share: Tensor, alpha: Tensor) -> Tensor:
        if self.budgeting == "fixed":
            return super()._quota(tokens, share, torch.full_like(alpha, 0.5))
        if self.budgeting == "uniform":
            return torch.ones_like(share)
        if self.budgeting == "random":
            return self._draw(tokens, len(share)).to(share)
        if self.budgeting == "vcast":
            return VCast(self.retention_ratio).compress(tokens).budgets.to(share)
        return super()._quota(tokens, share, alpha)

    def _local_scores(self, tokens: VideoTokens, features: Tensor) -> Tensor:
        if self.selection == "random":
            drawn = self._draw(tokens, len(tokens)).to(features.device)
            return drawn.view(tokens.num_units, -1)
        if self.selection == "vcast":
            score = VCast(self.retention_ratio).compress(tokens).scores["score"]
            return score.double().view(tokens.num_units, -1)
        return super()._local_scores(tokens, features)

    def _evidence(self, debiased: Tensor, budget: int) -> ResidualBasis:
        if self.selection == "pairwise":
            return _NearestKept(debiased)
        return super()._evidence(debiased, budget)

    def _score(self, local: Tensor, residual: Tensor, scale: Tensor) -> Tensor:
        if self.selection in _STATIC or self.selection == "lrs":
            return min_max(local)
        if self.selection == "pairwise":
            return min_max(local) + min_max(residual)
        if self.selection == "scs":
            return super()._score(torch.zeros_like(local), residual, scale)
        return super()._score(local, residual, scale)

    def _draw(self, tokens: VideoTokens, count: int) -> Tensor:
        generator = content_generator(tokens, self.seed)
        return torch.rand(count, dtype=torch.float64, generator=generator)


class _NearestKept(ResidualBasis):
    """The least distance 1 - cosine to the tokens kept so far, in place of a subspace residual."""

    def __init__(self, points: Tensor) -> None:
        self._units = torch.nn.functional.normalize(points, dim=1)
        mean = torch.nn.functional.normalize(points.mean(0), dim=0)
        self.energy = (1 - self._units @ mean).clamp(min=0).double().square()
        self.scale = torch.ones((), dtype=torch.float64, device=points.device)
        self.rank = torch.zeros((), dtype=torch.long, device=points.device)
        self._empty = True

    def absorb(self, chosen: Tensor, first: int) -> None:
        nearest = (self._units[first:] @ self._units[chosen].T).amax(1)
        distance = (1 - nearest).clamp(min=0).double().square()
        held = self.energy[first:]
        self.energy[first:] = distance if self._empty else torch.minimum(held, distance)
        self._empty = False
        self.rank = self.rank + len(chosen)
