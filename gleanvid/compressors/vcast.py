"""V-CAST: budgets by the curvature of the video in feature space, tokens by novelty and norm.

The means of the units form a path in feature space; a unit at which it turns sharply gets more
tokens. Within a unit, the tokens least like the unit's mean and with a large norm are kept.

Lin, Liu, Wang, Ma, Ren, "V-CAST: Video Curvature-Aware Spatio-Temporal Pruning for Efficient Video
Large Language Models" (2026), https://arxiv.org/abs/2603.27650. The authors use it with Qwen3-VL;
its use with other models is ours. Not ported: newline handling, which belongs to the models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.compressors.settings import exact_setting
from gleanvid.compressors.shared.apportion import largest_remainder
from gleanvid.compressors.shared.ranking import descending, ranks
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_EPS = 1e-6


@dataclass(frozen=True)
class VCast(Compressor):
    """Prunes tokens before the language model, by features alone.

    With ``exact`` each of the T units gets one token, and the rest of the budget B is divided by
    largest remainder. If B is below T, all of it is divided in this way. Without ``exact`` B is
    rounded as in the authors' code, to at least one token per unit. Tokens left by rounding
    then go to the unit with the largest fractional part until it is full. ``skip_single_frame``
    keeps a video of one unit whole, as the authors' code does; it is used only without ``exact``.
    """

    name: ClassVar[str] = "vcast"
    title: ClassVar[str] = "V-CAST"
    paper: ClassVar[str] = "Lin et al., 2026, https://arxiv.org/abs/2603.27650"
    licence: ClassVar[str] = "none stated for the method"
    reported: ClassVar[str] = (
        "98.6 % of the full performance, 86.4 % of the latency, 86.7 % of the memory: "
        "Qwen3-VL-8B (abstract)"
    )

    temperature: float = setting(
        0.7,
        "Softmax temperature of the budgets; lower favours units where features change direction",
        low=0.0,
        high=10.0,
        above_low=True,
        step=0.05,
    )
    skip_single_frame: bool = setting(
        True, "Keep all tokens of a clip with one temporal unit (used only if exact is off)"
    )
    exact: bool = exact_setting()

    def _compress(self, tokens: VideoTokens) -> Compression:
        features = tokens.features.float().view(tokens.num_units, tokens.tokens_per_unit, -1)
        means = features.mean(dim=1)
        frames = means / means.norm(dim=1, keepdim=True).clamp(min=_EPS)  # [T, D]
        curvature = _curvature(frames)
        weights = torch.softmax(curvature / self.temperature, dim=0)
        budgets = self._budgets(weights, tokens).to(features.device)
        norms = features.norm(dim=-1)
        low, high = norms.amin(dim=1, keepdim=True), norms.amax(dim=1, keepdim=True)
        novelty = 1.0 - _cosine(features, frames[:, None])
        score = novelty + (norms - low) / (high - low + _EPS)  # [T, N]
        keep = torch.nonzero((ranks(score) < budgets[:, None]).flatten()).squeeze(1)
        trace = {"curvature": curvature, "share": weights}
        return Compression.pruned(keep, tokens.grid, {"score": score.flatten()}, trace)

    def _budgets(self, weights: Tensor, tokens: VideoTokens) -> Tensor:
        """Return the number of tokens to keep in each unit, int64 [T]."""
        units, per_unit = tokens.num_units, tokens.tokens_per_unit
        if self.exact:
            total = self.budget(tokens)
            base = int(total >= units)
            shared = largest_remainder(weights, total - base * units, per_unit - base)
            return base + shared
        if units == 1 and self.skip_single_frame:
            return torch.tensor([per_unit])
        total = max(units, min(len(tokens), round(len(tokens) * self.retention_ratio)))
        return _authors_budgets(weights.cpu(), total, per_unit)


def _curvature(frames: Tensor) -> Tensor:
    """Return the curvature at every unit, [T], from the units' means ``frames`` [T, D].

    It is 1 - cosine between two steps in feature space: from the previous unit to this one, and
    from this one to the next. It is 1 for the first and the last unit.
    """
    curvature = torch.ones(len(frames), device=frames.device)
    if len(frames) > 2:
        steps = frames[1:] - frames[:-1]
        curvature[1:-1] = 1.0 - _cosine(steps[:-1], steps[1:])
    return curvature


def _cosine(a: Tensor, b: Tensor) -> Tensor:
    lengths = a.norm(dim=-1).clamp(min=_EPS) * b.norm(dim=-1).clamp(min=_EPS)
    return (a * b).sum(dim=-1) / lengths


def _authors_budgets(weights: Tensor, total: int, cap: int) -> Tensor:
    """Divide ``total`` tokens over the units by the authors' rule, int64 [T].

    Each unit gets one token. The rest is divided in proportion to ``weights`` [T], rounded down.
    Tokens left go to the unit with the largest fractional part up to ``cap``, then to the next.
    """
    shares = weights / weights.sum().clamp(min=_EPS)
    quotas = shares * (total - len(weights))
    budgets = 1 + quotas.floor().long().clamp(max=cap - 1)
    left = total - int(budgets.sum())
    for unit in descending(quotas - quotas.floor()).tolist():
        given = min(left, cap - int(budgets[unit]))
        budgets[unit] += given
        left -= given
    return budgets
