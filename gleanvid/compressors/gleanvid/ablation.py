"""GleanVID with one part replaced: the variants of the paper's ablation tables.

There are two parts, and each can be replaced alone: how the budget is divided over the units, and
how tokens are scored within a unit. The defaults are those of GleanVID. Each variant of the paper's
tables is this method with two or three settings changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import setting
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.gleanvid.budget import centred_first_unit
from gleanvid.compressors.gleanvid.debiasing import DebiasedClip
from gleanvid.compressors.gleanvid.residuals import Evidence
from gleanvid.compressors.gleanvid.select import saturated
from gleanvid.compressors.shared.content_seed import content_generator
from gleanvid.compressors.vcast import VCast
from gleanvid.types import VideoTokens

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Ablation(GleanVID):
    """GleanVID with budgeting or selection replaced by another method.

    ``budgeting`` "fixed" spreads half of the budget evenly over time (alpha = 0.5). ``selection``
    "pairwise" replaces the subspace score: a token is scored by its smallest distance 1 - cosine to
    the tokens kept so far, or to the clip's mean if none is kept yet. The first unit has no units
    before it; with ``first_unit`` "centred" its novelty is its distance from the clip's mean.
    ``seed`` matters only if budgets or scores are random.
    """

    name: ClassVar[str] = "ablation"
    title: ClassVar[str] = "Ablation"
    paper: ClassVar[str] = "ablation variants of the GleanVID paper"

    budgeting: str = setting(
        "adaptive",
        "How the token budget is distributed over the temporal units",
        choices=("adaptive", "fixed", "uniform", "random", "vcast"),
        open=True,
    )
    selection: str = setting(
        "lrs+scs",
        "How tokens are scored within a temporal unit",
        choices=("lrs+scs", "lrs", "scs", "pairwise", "vcast", "random"),
        open=True,
    )
    first_unit: str = setting(
        "norm",
        "How the novelty of the first temporal unit is measured",
        choices=("norm", "centred"),
    )
    seed: int = setting(
        0, "Random seed of the variants that choose at random", low=0, high=2**31 - 1, step=1
    )

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

    def _novelty(self, clip: DebiasedClip, means: Tensor) -> Tensor:
        novelty = super()._novelty(clip, means)
        return novelty if self.first_unit == "norm" else centred_first_unit(novelty, clip, means)

    def _local_scores(self, tokens: VideoTokens, clip: DebiasedClip, references: Tensor) -> Tensor:
        if self.selection == "random":
            return self._draw(tokens, len(tokens)).to(clip.norms.device).view_as(clip.norms)
        if self.selection == "vcast":
            score = VCast(self.retention_ratio).compress(tokens).scores["score"]
            return score.double().view_as(clip.norms)
        return super()._local_scores(tokens, clip, references)

    def _select(
        self, tokens: VideoTokens, clip: DebiasedClip, references: Tensor, budgets: list[int]
    ) -> tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]:
        keep, scores, trace = super()._select(tokens, clip, references, budgets)
        # In a saturated unit, complementarity counts as 0 when it is added to the local score. The
        # selections other than these two use one score alone.
        if self.selection not in ("lrs+scs", "pairwise"):
            del trace["saturated"]
        return keep, scores, trace

    def _evidence(self, clip: DebiasedClip, budgets: list[int]) -> Evidence:
        if self.selection == "pairwise":
            return _NearestKept(clip)
        return super()._evidence(clip, budgets)

    def _terms(self, local: Tensor, complement: Tensor) -> tuple[Tensor, Tensor]:
        if self.selection in ("random", "vcast", "lrs"):
            return local, torch.zeros_like(complement)
        if self.selection == "scs":
            return torch.zeros_like(local), complement
        return super()._terms(local, complement)

    def _draw(self, tokens: VideoTokens, count: int) -> Tensor:
        generator = content_generator(tokens, self.seed)
        return torch.rand(count, dtype=torch.float64, generator=generator)


class _NearestKept:
    """Scores a token by its smallest distance 1 - cosine to the tokens kept so far."""

    scale = 0.0

    def __init__(self, clip: DebiasedClip) -> None:
        self._clip, self._kept = clip, torch.nn.functional.normalize(clip.mean[None], dim=1)
        self._unit, self._empty = self._kept, True

    def complement(self, unit: int) -> Tensor:
        self._unit = torch.nn.functional.normalize(self._clip.unit(unit), dim=1)
        return (1 - (self._unit @ self._kept.T).amax(1)).clamp(min=0)

    def absorb(self, chosen: Tensor) -> None:
        kept = self._unit[chosen]
        self._kept = kept if self._empty else torch.cat([self._kept, kept])
        self._empty = False

    def trace(self, budgets: Sequence[int], complement: Tensor) -> dict[str, Tensor]:
        ranks = torch.tensor([*accumulate(budgets)], device=self._kept.device)
        return {"basis_rank": ranks, "saturated": saturated(complement, self.scale)}
