"""PruneVid: merge still positions in time, similar tokens in space, then prune by the question.

The clip is cut into runs of similar units; a position that hardly changes in a run is averaged over
it, and similar tokens are clustered and averaged. Inside the language model the tokens stay that
the question attends to most.

Huang, Zhou, Han, "PruneVid: Visual Token Pruning for Efficient Video Large Language Models"
(Findings of ACL 2025), https://arxiv.org/abs/2412.16117. Written from the formulas; the original
code is non-commercial.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.compressors.two_stage import TwoStage
from gleanvid.ops.density_peaks import density_peaks
from gleanvid.ops.depth import rows_for_average
from gleanvid.ops.ranking import descending
from gleanvid.ops.records import identity_record, merge_record, required
from gleanvid.ops.segments import contiguous_labels, runs_of
from gleanvid.ops.windows import Windows, exact_counts, with_singles
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_NEIGHBOURS = 7
_LARGEST_UNMERGED = 14  # the authors' code leaves smaller sets unchanged


@dataclass(frozen=True)
class PruneVid(TwoStage):
    """Stage 1 before the model; with ``inner`` also :class:`PruneVidSelection` before layer K.

    The authors' outcome depends on the video, not on a ratio. With ``exact`` every set is clustered
    to its share of B (small sets too, or there would be a floor; ``cluster_ratio`` is not used),
    and where the temporal averages alone are fewer than B the most changed tokens stand alone.
    Without ``exact``: ``cluster_ratio`` decides and ``retention_ratio`` is not used. The authors'
    code fails for fewer than 7 units; here the neighbour count is cut to what there is, and one
    unit has no static tokens.
    """

    name: ClassVar[str] = "prunevid"
    title: ClassVar[str] = "PruneVid"
    paper: ClassVar[str] = "Huang et al., Findings of ACL 2025, https://arxiv.org/abs/2412.16117"
    licence: ClassVar[str] = "CC BY-NC-SA 4.0"
    reported: ClassVar[str] = "competitive with over 80 % of tokens pruned (abstract)"
    merges: ClassVar[bool] = True

    tau: float = setting(
        0.8, "Mean cosine in a window above which a position is static", low=-1.0, high=1.0
    )
    segment_ratio: float = setting(
        0.25, "Number of temporal clusters per unit", low=0.0, high=1.0, step=0.05, above_low=True
    )
    cluster_ratio: float = setting(
        0.5,
        "Fraction of each set left after spatial merging (authors' mode only)",
        low=0.0,
        high=1.0,
    )
    inner: bool = setting(
        False, "Prune again inside the language model, by attention to the question"
    )
    layer: int = setting(
        10, "K: number of layers before the question selects tokens", low=1, high=127, step=1
    )
    alpha: float = setting(
        0.4, "Fraction kept by attention to the question", low=0.0, high=1.0, above_low=True
    )
    num_layers: int = setting(28, "Layers of the language model", low=2, high=128, step=1)
    exact: bool = setting(True, "Keep exactly the budget (off: the authors' own count)")

    def inner_stage(self) -> Compressor:
        return PruneVidSelection(
            self.retention_ratio, self.layer, self.num_layers, self.alpha, self.exact
        )

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
        """Runs of similar frames of [T, N, D] and the positions that hardly change in each."""
        units, per_unit = features.shape[:2]
        count = max(1, int(self.segment_ratio * units))
        _, labels, _ = density_peaks(features.mean(dim=1), count, min(_NEIGHBOURS, units))
        start = torch.zeros(units, dtype=torch.long, device=features.device)
        static = torch.zeros(units, per_unit, dtype=torch.bool, device=features.device)
        unit = torch.nn.functional.normalize(features, dim=-1)
        for _, first, length in runs_of(contiguous_labels(labels.tolist())):
            start[first : first + length] = first
            if length > 1:
                total = unit[first : first + length].sum(dim=0)  # [N, D]
                mean_cosine = (total.square().sum(dim=-1) - length) / (length * (length - 1))
                static[first : first + length] = mean_cosine > self.tau
        return Windows(start, static)

    @property
    def inner_share(self) -> float:
        return self.alpha

    def _counts(self, sizes: Tensor) -> Tensor:
        """int64 [2, T]: rows of every static and dynamic set, as in the authors' code."""
        merged = (sizes.double() * self.cluster_ratio).long().clamp(min=1)
        return torch.where(sizes > _LARGEST_UNMERGED, merged, sizes)


def _sets(windows: Windows, counts: Tensor) -> Iterator[tuple[slice, Tensor, int]]:
    """(units, positions, rows) of every static or dynamic set that has a row to give."""
    for first in windows.firsts:
        if counts[0, first]:
            places = torch.nonzero(windows.static[first]).squeeze(1)
            yield windows.span(first), places, int(counts[0, first])
    for unit in torch.nonzero(counts[1]).flatten().tolist():
        places = torch.nonzero(~windows.static[unit]).squeeze(1)
        yield slice(unit, unit + 1), places, int(counts[1, unit])


def _cluster(rows: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Share of each of [n, D] rows in the plain mean of its cluster, and the row at its centre."""
    if count == len(rows):
        return torch.ones(count, device=rows.device), torch.arange(count, device=rows.device)
    centers, assignment, _ = density_peaks(rows, count, min(_NEIGHBOURS, len(rows)))
    sizes = torch.bincount(assignment, minlength=count)
    return 1.0 / sizes[assignment], centers[assignment]


def _change(features: Tensor, windows: Windows) -> Tensor:
    """[T, N]: 1 - cosine of each token to the mean of its position over its window."""
    means = torch.zeros_like(features)
    for first in windows.firsts:
        span = windows.span(first)
        means[span] = features[span].mean(dim=0)
    return 1.0 - (
        torch.nn.functional.normalize(features, dim=-1)
        * torch.nn.functional.normalize(means, dim=-1)
    ).sum(dim=-1)


@dataclass(frozen=True)
class PruneVidSelection(Compressor):
    """Stage 2: the strongest attention any question token pays a row, over all heads, decides.

    Every set of stage 1 keeps its own share. ``tokens.previous`` must be stage 1's record and
    ``tokens.attention`` [heads, Q, L] hold the rows of the question in the layer before.
    """

    name: ClassVar[str] = "prunevid_selection"
    paper: ClassVar[str] = PruneVid.paper
    queries: ClassVar[str] = "text"

    layer: int = setting(10, "Layer before which the selection acts", low=1, high=127, step=1)
    num_layers: int = setting(28, "Layers of the language model", low=2, high=128, step=1)
    alpha: float = setting(0.4, "Fraction of every set to keep", low=0.0, high=1.0, above_low=True)
    exact: bool = setting(True, "Meet the ratio exactly, on average over the layers")

    def _compress(self, tokens: VideoTokens) -> Compression:
        """Raises ``ValueError`` without attention or after another method's stage 1."""
        score = required(tokens, "attention", "PruneVid").float().amax(dim=(0, 1))  # [L]
        group = _groups(tokens)
        sizes = torch.bincount(group, minlength=2 * tokens.num_units)
        if self.exact:
            total, rows = tokens.num_units * tokens.tokens_per_unit, len(tokens)
            left = rows_for_average(
                total, rows, self.retention_ratio, self.layer, self.num_layers, "PruneVid"
            )
            if left >= rows:
                return identity_record(tokens, {"attention": score})
            counts = exact_counts(sizes.cpu(), left).to(sizes.device)
        else:
            counts = (sizes.double() * self.alpha).long()
        best = descending(score)
        order = best[torch.sort(group[best], stable=True).indices]  # by group, best first
        place = (
            torch.arange(len(order), device=order.device) - (sizes.cumsum(0) - sizes)[group[order]]
        )
        keep = order[place < counts[group[order]]].sort().values
        return Compression.pruned(keep, tokens.grid, {"attention": score}, num_tokens=len(tokens))


def _groups(tokens: VideoTokens) -> Tensor:
    """int64 [L]: each row's set in stage 1: T + window start if static, else its unit."""
    previous = tokens.previous
    if previous is None or not {"static", "window"} <= previous.state.keys():
        raise ValueError("PruneVid's stage inside the model needs the record of its own stage 1")
    place = previous.keep if tokens.positions is None else tokens.positions
    unit = place // tokens.tokens_per_unit
    static = previous.state["static"][place].bool()
    return torch.where(static, tokens.num_units + previous.state["window"][unit], unit)
