"""PruneVid: merge still positions in time, similar tokens in space, then prune by the question.

The clip is cut into windows of similar units. Positions that hardly change in a window are averaged
over it; similar tokens are clustered and averaged. Inside the language model, the tokens that the
question attends to most are kept.

Huang, Zhou, Han, "PruneVid: Visual Token Pruning for Efficient Video Large Language Models"
(Findings of ACL 2025), https://arxiv.org/abs/2412.16117. Written from the formulas; the original
code is non-commercial.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import setting
from gleanvid.compressors.settings import exact_setting, num_layers_setting
from gleanvid.compressors.shared.density_peaks import density_peaks
from gleanvid.compressors.shared.ranking import descending
from gleanvid.compressors.shared.records import identity_record, merge_record, required
from gleanvid.compressors.shared.segments import contiguous_labels, runs_of
from gleanvid.compressors.shared.windows import Windows, exact_counts, with_singles
from gleanvid.compressors.two_stage import InnerStage, TwoStage
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_NEIGHBOURS = 7
_LARGEST_UNMERGED = 14  # tokens; the authors' code does not cluster sets of up to this size


@dataclass(frozen=True)
class PruneVid(TwoStage):
    """Stage 1 before the model; with ``inner`` also :class:`PruneVidSelection` before layer K.

    K is the setting ``layer``. Averaging over time leaves two kinds of sets of tokens: the static
    set of a window has its averages, and the dynamic set of a unit has the unit's other tokens. In
    the authors' code the number of output tokens depends on the video, not on a ratio.

    With ``exact`` the budget of B tokens is divided over these sets, and each set is clustered into
    its part. Small sets are clustered, too, as low ratios could not be met otherwise. If averaging
    leaves fewer than B tokens, the tokens that change most are kept unmerged. ``cluster_ratio`` is
    not used. Without ``exact``, ``cluster_ratio`` decides and ``retention_ratio`` is not used.

    The windows are found by density-peak clustering with 7 neighbours. With fewer than 7 units the
    authors' code fails; here all units are then neighbours. A clip of one unit has no static
    tokens.
    """

    name: ClassVar[str] = "prunevid"
    title: ClassVar[str] = "PruneVid"
    paper: ClassVar[str] = "Huang et al., Findings of ACL 2025, https://arxiv.org/abs/2412.16117"
    licence: ClassVar[str] = "CC BY-NC-SA 4.0"
    reported: ClassVar[str] = "competitive with over 80 % of tokens pruned (abstract)"
    merges: ClassVar[bool] = True

    tau: float = setting(
        0.8,
        "Mean cosine over a segment above which a position counts as static",
        low=-1.0,
        high=1.0,
    )
    segment_ratio: float = setting(
        0.25,
        "Number of temporal segments, as a fraction of the temporal units",
        low=0.0,
        high=1.0,
        step=0.05,
        above_low=True,
    )
    cluster_ratio: float = setting(
        0.5,
        "Fraction of tokens left after spatial merging (used only if exact is off)",
        low=0.0,
        high=1.0,
    )
    inner: bool = setting(
        False, "Prune again inside the language model, by attention to the question"
    )
    layer: int = setting(
        10, "Language-model layer before which tokens are pruned again", low=1, high=127, step=1
    )
    alpha: float = setting(
        0.4,
        "Fraction of tokens kept by attention from the question",
        low=0.0,
        high=1.0,
        above_low=True,
    )
    num_layers: int = num_layers_setting()
    exact: bool = exact_setting()

    def inner_kind(self) -> type[InnerStage]:
        return PruneVidSelection

    def _compress(self, tokens: VideoTokens) -> Compression:
        features = tokens.features.float().view(tokens.num_units, tokens.tokens_per_unit, -1)
        windows = self.windows(features)
        record = self._stage1(tokens, features, windows)
        static = windows.static.flatten()
        return replace(
            record,
            scores={"static": static},
            trace={"window": windows.start},
            state={"static": static, "window": windows.start},
        )

    def _stage1(self, tokens: VideoTokens, features: Tensor, windows: Windows) -> Compression:
        budget = self.outer_budget(tokens)
        if self.exact and budget >= int(windows.sizes.sum()):
            home, weight = with_singles(windows, _change(features, windows), budget)
            return merge_record(tokens, home, weight)
        counts = exact_counts(windows.sizes, budget) if self.exact else self._counts(windows.sizes)
        home = torch.full_like(windows.homes, -1)
        weight = torch.ones(home.shape, device=home.device)
        for span, places, count in _sets(windows, counts):
            share, center = _cluster(features[span, places].mean(dim=0), count)
            home[span, places] = span.start * tokens.tokens_per_unit + places[center]
            weight[span, places] = share / (span.stop - span.start)
        return merge_record(tokens, home.flatten(), weight.flatten())

    def windows(self, features: Tensor) -> Windows:
        """Cut ``features`` [T, N, D] into windows of similar frames; mark their static positions.

        A position is static in a window if the mean cosine of its tokens, over all pairs of frames
        of the window, is above ``tau``.
        """
        units, per_unit = features.shape[:2]
        count = max(1, int(self.segment_ratio * units))
        _, labels, _ = density_peaks(features.mean(dim=1), count, min(_NEIGHBOURS, units))
        start = torch.zeros(units, dtype=torch.long, device=features.device)
        static = torch.zeros(units, per_unit, dtype=torch.bool, device=features.device)
        unit = torch.nn.functional.normalize(features, dim=-1)
        for _, first, length in runs_of(contiguous_labels(labels.tolist())):
            start[first : first + length] = first
            if length > 1:
                total = unit[first : first + length].sum(dim=0)
                mean_cosine = (total.square().sum(dim=-1) - length) / (length * (length - 1))
                static[first : first + length] = mean_cosine > self.tau
        return Windows(start, static)

    @property
    def inner_share(self) -> float:
        return self.alpha

    def _counts(self, sizes: Tensor) -> Tensor:
        """Return the number of clusters of each set by the authors' formula, int64 [2, T].

        ``sizes`` int64 [2, T]: number of tokens of each set. Row 0: static sets, row 1: dynamic.
        """
        merged = (sizes.double() * self.cluster_ratio).long().clamp(min=1)
        return torch.where(sizes > _LARGEST_UNMERGED, merged, sizes)


def _sets(windows: Windows, counts: Tensor) -> Iterator[tuple[slice, Tensor, int]]:
    """Yield (units, positions, number of clusters) for every set with at least one cluster.

    ``counts`` [2, T]: row 0 for static sets, each at its window's first unit; row 1 for dynamic.
    """
    for first in windows.firsts:
        if counts[0, first]:
            places = torch.nonzero(windows.static[first]).squeeze(1)
            yield windows.span(first), places, int(counts[0, first])
    for unit in torch.nonzero(counts[1]).flatten().tolist():
        places = torch.nonzero(~windows.static[unit]).squeeze(1)
        yield slice(unit, unit + 1), places, int(counts[1, unit])


def _cluster(rows: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Cluster n tokens, ``rows`` [n, D], into ``count`` clusters.

    Returns each token's weight [n] in the mean of its cluster and the cluster's central token [n].
    """
    if count == len(rows):
        return torch.ones(count, device=rows.device), torch.arange(count, device=rows.device)
    centers, assignment, _ = density_peaks(rows, count, min(_NEIGHBOURS, len(rows)))
    sizes = torch.bincount(assignment, minlength=count)
    return 1.0 / sizes[assignment], centers[assignment]


def _change(features: Tensor, windows: Windows) -> Tensor:
    """Return 1 - cosine of each token to the mean over its window at the same position, [T, N]."""
    means = torch.zeros_like(features)
    for first in windows.firsts:
        span = windows.span(first)
        means[span] = features[span].mean(dim=0)
    return 1.0 - (
        torch.nn.functional.normalize(features, dim=-1)
        * torch.nn.functional.normalize(means, dim=-1)
    ).sum(dim=-1)


@dataclass(frozen=True)
class PruneVidSelection(InnerStage):
    """Stage 2: keeps the tokens with the largest attention from any question token in any head.

    Stage 1 leaves static and dynamic sets of tokens (:class:`PruneVid`). The same fraction of each
    set is kept. ``tokens.previous`` must be the compression record of stage 1. ``tokens.attention``
    [heads, Q, L] is the attention of the Q question tokens to the L visual tokens in the layer
    before.
    """

    name: ClassVar[str] = "prunevid_selection"
    paper: ClassVar[str] = PruneVid.paper
    queries: ClassVar[str] = "text"
    over_heads: ClassVar[str] = "max"

    def _compress(self, tokens: VideoTokens) -> Compression:
        score = required(tokens, "attention", "PruneVid").float().amax(dim=(0, 1))  # [L]
        group = _groups(tokens)
        sizes = torch.bincount(group, minlength=2 * tokens.num_units)
        if self.exact:
            left = self.exact_count(tokens, "PruneVid")
            if left >= len(tokens):
                return identity_record(tokens, {"attention": score})
            counts = exact_counts(sizes.cpu(), left).to(sizes.device)
        else:
            counts = (sizes.double() * self.share).long()
        best = descending(score)
        order = best[torch.sort(group[best], stable=True).indices]  # sorted by group, best first
        place = (
            torch.arange(len(order), device=order.device) - (sizes.cumsum(0) - sizes)[group[order]]
        )
        keep = order[place < counts[group[order]]].sort().values
        return Compression.pruned(keep, tokens.grid, {"attention": score}, num_tokens=len(tokens))


def _groups(tokens: VideoTokens) -> Tensor:
    """Return a number for the set of stage 1 that each visual token belongs to, int64 [L].

    Dynamic sets have the number of their unit. Static sets have T plus the number of the first
    unit of their window, where T is the number of units.
    """
    previous = tokens.previous
    if previous is None or not {"static", "window"} <= previous.state.keys():
        raise ValueError(
            "tokens.previous must be the compression record of PruneVid's stage before the model"
        )
    place = previous.keep if tokens.positions is None else tokens.positions
    unit = place // tokens.tokens_per_unit
    static = previous.state["static"][place].bool()
    return torch.where(static, tokens.num_units + previous.state["window"][unit], unit)
