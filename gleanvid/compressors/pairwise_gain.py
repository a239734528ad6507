"""PairwiseGain, our own baseline: greedy choice by information minus pairwise redundancy.

Tokens are picked one by one for differing from the mean of their unit and from every token picked
before. The budget is divided over the units first, by how new the segment of a unit is.

It represents pairwise selection as in MMG-Vid (Ma et al., AAAI 2026,
https://arxiv.org/abs/2508.21044), which published no code. It is not a port of MMG-Vid, and its
results say nothing about MMG-Vid's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.compressors.shared.apportion import largest_remainder
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class PairwiseGain(Compressor):
    """Greedy maximisation of sum_i I_i - (2 beta / B) sum_{i<j} cos(x_i, x_j) over the chosen set.

    x_i is a token, B the budget, and I_i = 1 - cos(x_i, mean of its unit). A segment ends where the
    means of neighbouring units have a cosine below ``tau``. The budget of a unit is proportional to
    the novelty of its segment: the mean distance (1 - cosine) of the segment's mean to those of
    earlier segments. The first segment has none before it and gets the largest novelty of the
    others. Tokens are chosen in rounds. In each round every unit with budget left chooses one,
    which it compares with the tokens chosen in earlier rounds.
    """

    name: ClassVar[str] = "pairwise_gain"
    title: ClassVar[str] = "Pairwise gain"
    paper: ClassVar[str] = "baseline: pairwise marginal gain (ours)"

    beta: float = setting(
        1.0,
        "Weight of a token's redundancy relative to its information",
        low=0.0,
        high=10.0,
        step=0.1,
    )
    tau: float = setting(
        0.9, "Cosine of neighbouring units below which a segment ends", low=-1.0, high=1.0
    )

    def _compress(self, tokens: VideoTokens) -> Compression:
        units, per_unit = tokens.num_units, tokens.tokens_per_unit
        features = tokens.features.float().view(units, per_unit, -1)
        means = features.mean(dim=1)  # [T, D]
        unit = torch.nn.functional.normalize(features, dim=-1)
        information = 1.0 - torch.einsum(
            "tnd,td->tn", unit, torch.nn.functional.normalize(means, dim=-1)
        )
        segment = segments(means, self.tau)
        shares = segment_novelty(means, segment)[segment]
        total = self.budget(tokens)
        budgets = largest_remainder(shares, total, per_unit)
        order = _rounds(unit, information, budgets.to(unit.device), 2.0 * self.beta / total)
        scores = {"information": information.flatten()}
        trace = {"segment": segment, "share": shares}
        record = Compression.pruned(order.sort().values, tokens.grid, scores, trace)
        return replace(record, state={"order": order})


def segments(means: Tensor, tau: float) -> Tensor:
    """Return the segment of each unit, int64 [T], from the units' ``means`` [T, D].

    A segment ends where the means of neighbouring units have a cosine below ``tau``. A segment of
    one unit is then joined to its more similar neighbour.
    """
    unit = torch.nn.functional.normalize(means, dim=-1)
    cosine = (unit[1:] * unit[:-1]).sum(dim=-1)  # [T-1]: cosine of each unit to the next
    cut = cosine < tau
    edge = cut.new_ones(1)
    single = torch.cat([edge, cut]) & torch.cat([cut, edge])  # segments of one unit
    far = cosine.new_full((1,), -2.0)
    before, after = torch.cat([far, cosine]), torch.cat([cosine, far])
    units = torch.arange(len(means), device=means.device)
    opened = torch.where(before >= after, units - 1, units)[single]  # the segment border to remove
    cut = cut.clone()
    cut[opened[(opened >= 0) & (opened < len(cut))]] = False
    return torch.cat([cut.new_zeros(1), cut]).long().cumsum(dim=0)


def segment_novelty(means: Tensor, segment: Tensor) -> Tensor:
    """Return the novelty of each of S segments, [S]: 1 - its mean cosine to earlier segments.

    A segment is compared by the mean of its tokens. The first one has none before it and gets the
    largest value of the others. ``means`` [T, D]: mean of each unit. ``segment`` int64 [T]: number
    of each unit's segment.
    """
    count = int(segment[-1]) + 1
    sums = means.new_zeros(count, means.shape[1]).index_add_(0, segment, means)
    unit = torch.nn.functional.normalize(sums, dim=-1)
    earlier = (unit @ unit.T).tril(diagonal=-1).sum(dim=1)
    places = torch.arange(count, device=means.device)
    novelty = (1.0 - earlier / places.clamp(min=1)).clamp(min=1e-6)
    novelty[0] = novelty[1:].max() if count > 1 else 1.0
    return novelty


def _rounds(unit: Tensor, information: Tensor, budgets: Tensor, weight: float) -> Tensor:
    """Choose tokens in rounds and return their flat indices in this order, int64 [B].

    In each round, every unit with budget left takes its token of largest gain. The gain is
    ``information`` [T, N] minus ``weight`` times the sum of cosines to all tokens chosen in earlier
    rounds. ``unit`` [T, N, D]: tokens scaled to length 1. ``budgets`` [T]: tokens per unit.
    """
    chosen = torch.zeros_like(information, dtype=torch.bool)
    total = unit.new_zeros(unit.shape[-1])  # sum of the chosen unit vectors
    index = torch.arange(len(unit), device=unit.device)
    order = []
    for spent in range(int(budgets.max())):
        gain = information - weight * (unit @ total)
        best = gain.masked_fill(chosen, float("-inf")).argmax(dim=1)
        active = budgets > spent
        chosen[index[active], best[active]] = True
        order.append(index[active] * unit.shape[1] + best[active])
        total = total + unit[index[active], best[active]].sum(dim=0)
    return torch.cat(order)
