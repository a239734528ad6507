"""FlashVID: salient, diverse tokens stay; the others merge along trees in time, then in space.

In every segment, tokens that are salient and unlike one another are kept. Each of the others is
joined to the most similar token of the unit before it if they are alike. This gives trees. They are
clustered in space, and each cluster is averaged.

Fan, Chen, Xing, Li, Jiang, Tian, "FlashVID: Efficient Video Large Language Models via Training-free
Tree-based Spatiotemporal Token Merging" (ICLR 2026), https://arxiv.org/abs/2602.08024. Not ported:
unseeded noise on densities, picking a token twice (v2 could), dropping Qwen3-VL's delimiters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import setting
from gleanvid.compressors.flashvid.picks import diverse_picks
from gleanvid.compressors.flashvid.trees import trees
from gleanvid.compressors.settings import exact_setting, num_layers_setting
from gleanvid.compressors.shared.apportion import largest_remainder
from gleanvid.compressors.shared.density_peaks import density_peaks
from gleanvid.compressors.shared.ranking import top_indices
from gleanvid.compressors.shared.records import Shares, identity_record, required, shared_record
from gleanvid.compressors.shared.segments import (
    neighbour_cosines,
    spans_between,
    starts_of,
    weakest,
)
from gleanvid.compressors.shared.windows import exact_counts
from gleanvid.compressors.two_stage import InnerStage, TwoStage
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_NEIGHBOURS = 7


@dataclass(frozen=True)
class FlashVID(TwoStage):
    """Vision stage before the model; with ``inner`` also :class:`FlashVIDPrune` before layer K.

    K is the setting ``layer``. With ``exact`` the budget of B tokens is divided evenly over the
    frames, and the clusters of a segment over its frames by their number of tree roots. With
    ``inner`` the budget is larger than B, so that the average over the layers is the retention
    ratio. Without ``exact`` a frame of N tokens gets N * ``retention_ratio`` * ``expansion``,
    rounded up, as in the authors' code. At N or more all are kept; the authors' code fails there.

    In a segment of one frame the spatial step clusters the kept tokens again, unless
    ``repeat_positions`` is off. So an index may occur twice in ``keep``. The authors divide the sum
    of a tree by one plus the number of its root's direct children, so the weights of an output
    token need not sum to one; with ``true_mean`` they do. The authors use ``version`` "v1" and
    ``min_segments`` 4 for Qwen-VL, and "v2" and 8 for LLaVA. For Qwen3-VL-8B they use ``layer`` 28
    and ``inner_retention`` 0.1.
    """

    name: ClassVar[str] = "flashvid"
    title: ClassVar[str] = "FlashVID"
    paper: ClassVar[str] = "Fan et al., ICLR 2026, https://arxiv.org/abs/2602.08024"
    licence: ClassVar[str] = "MIT"
    reported: ClassVar[str] = (
        "99.1 % of the full performance at 10 % of the tokens: LLaVA-OneVision (abstract)"
    )
    merges: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset({"saliency"})

    version: str = setting(
        "v1",
        "Weight by which tokens are picked: saliency (v1), or saliency times event weight (v2)",
        choices=("v1", "v2"),
    )
    min_segments: int = setting(4, "Minimum number of segments of the clip", low=1, high=64, step=1)
    segment_threshold: float = setting(
        0.9, "Cosine of neighbouring frames below which a segment ends", low=-1.0, high=1.0
    )
    alpha: float = setting(
        0.7, "Fraction of the tokens of a frame that are kept unmerged", low=0.0, high=1.0
    )
    temporal_threshold: float = setting(
        0.8, "Cosine above which a token merges into the previous frame", low=-1.0, high=1.0
    )
    expansion: float = setting(
        1.25,
        "Tokens kept before the language model per token kept in the end (only if exact is off)",
        low=1.0,
        high=4.0,
        step=0.05,
    )
    true_mean: bool = setting(
        False, "Average a merged tree over its tokens (off: divide by one plus its root's children)"
    )
    repeat_positions: bool = setting(
        True, "In segments of one frame, also cluster the tokens that were already picked"
    )
    inner: bool = setting(False, "Prune again inside the language model")
    layer: int = setting(
        20, "Language-model layer before which tokens are pruned again, K", low=1, high=127, step=1
    )
    inner_retention: float = setting(
        0.3,
        "Fraction of tokens kept by the pruning inside the language model",
        low=0.0,
        high=1.0,
        above_low=True,
    )
    num_layers: int = num_layers_setting()
    exact: bool = exact_setting()

    def inner_kind(self) -> type[InnerStage]:
        return FlashVIDPrune

    @property
    def inner_share(self) -> float:
        return self.inner_retention

    def _compress(self, tokens: VideoTokens) -> Compression:
        units, per_unit = tokens.num_units, tokens.tokens_per_unit
        features = tokens.features.float().view(units, per_unit, -1)
        saliency = required(tokens, "saliency", "FlashVID").float().view(units, per_unit)
        means = features.mean(dim=1)
        spans = self.segments(means)
        budgets = self._budgets(tokens)
        picks = torch.tensor([math.ceil(budget * self.alpha) for budget in budgets.tolist()])
        scores = {"saliency": saliency.flatten()}
        trace = {"segment": starts_of(spans), "picked": picks, "clusters": budgets - picks}
        if int(budgets.min()) == per_unit:
            return identity_record(tokens, scores, trace)
        weight = saliency
        if self.version == "v2":
            events = torch.cat([means[span].mean(0).expand_as(means[span]) for span in spans])
            weight = saliency * (features @ events[..., None]).squeeze(-1)
        picked = diverse_picks(features, weight, picks)
        parts = [Shares.untouched(torch.nonzero(picked.flatten()).squeeze(1))]
        for span in spans:
            if int(trace["clusters"][span].sum()):
                counts = budgets[span], picks[span]
                parts.append(self._merged(features[span], picked[span], span, *counts))
        return shared_record(tokens, parts, scores, trace)

    def segments(self, means: Tensor) -> list[slice]:
        """Cut the clip into segments of neighbouring frames with ``means`` [T, D].

        A segment ends where the cosine of two neighbours is below ``segment_threshold``. If that
        gives fewer than ``min_segments``, it is also cut at the lowest cosines.
        """
        cosines = neighbour_cosines(means)
        cuts = cosines < self.segment_threshold
        missing = self.min_segments - 1 - int(cuts.sum())
        return spans_between(cuts | weakest(cosines.masked_fill(cuts, 1.0), missing))

    def _budgets(self, tokens: VideoTokens) -> Tensor:
        """Return the number of output tokens of this stage for every unit, int64 [T]."""
        units, per_unit = tokens.num_units, tokens.tokens_per_unit
        if not self.exact:
            count = math.ceil(per_unit * self.retention_ratio * self.expansion)
            return torch.full((units,), min(count, per_unit))
        return largest_remainder(torch.ones(units), self.outer_budget(tokens), per_unit)

    def _merged(
        self, features: Tensor, picked: Tensor, span: slice, budgets: Tensor, picks: Tensor
    ) -> Shares:
        """Merge the tokens of one segment that are not picked; return their weights.

        Tokens are joined in trees through time, and the roots are clustered in every frame. In a
        segment of one frame, picked tokens are clustered, too, unless ``repeat_positions`` is off.
        ``features`` [L, N, D]: the segment's L frames. ``picked`` bool [L, N]: the picked tokens.
        ``budgets`` and ``picks`` [L]: number of output tokens and of picked tokens in each frame.
        """
        length, per_unit = picked.shape
        free = ~picked
        root = torch.arange(picked.numel(), device=picked.device)
        divisor = torch.ones(len(root), device=picked.device)
        if length > 1:
            root, children = trees(features, free, int(budgets.sum()), self.temporal_threshold)
            divisor = torch.bincount(root, minlength=len(root)) if self.true_mean else children
        elif self.repeat_positions:
            free = torch.ones_like(free)
        standing = free & (root == torch.arange(len(root), device=root.device)).view_as(free)
        rows = torch.zeros_like(features).flatten(0, 1)
        rows = rows.index_add_(0, root, features.flatten(0, 1)) / divisor[:, None]
        counts = self._counts(standing.sum(dim=1).cpu(), int((budgets - picks).sum()))
        home = torch.full_like(root, -1)
        share = 1.0 / divisor
        for unit in torch.nonzero(counts).flatten().tolist():
            count = int(counts[unit])
            places = unit * per_unit + torch.nonzero(standing[unit]).squeeze(1)
            centers, joined, _ = density_peaks(rows[places], count, min(count, _NEIGHBOURS))
            home[places] = places[centers[joined]]
            share[places] /= torch.bincount(joined, minlength=count)[joined]
        source = torch.nonzero(free.flatten() & (home[root] >= 0)).squeeze(1)
        base = span.start * per_unit
        top = root[source]
        return Shares.of(base + home[top], base + source, share[top], twin=True)

    def _counts(self, sizes: Tensor, total: int) -> Tensor:
        """Return the number of clusters of every frame of a segment, int64 [L].

        ``sizes`` [L]: number of tree roots to be clustered in each frame. ``total``: number of
        clusters of the segment.
        """
        if self.exact:
            return exact_counts(sizes, total)
        ratio = total / int(sizes.sum())
        if ratio >= 1:
            return sizes
        return torch.tensor([math.ceil(size * ratio) for size in sizes.tolist()])


@dataclass(frozen=True)
class FlashVIDPrune(InnerStage):
    """Inner stage before layer K: keeps the tokens that the last prompt token attends to most.

    K is the setting ``layer``; the attention is that of layer K - 1. Without ``exact`` the number
    of tokens is rounded up.
    """

    name: ClassVar[str] = "flashvid_prune"
    paper: ClassVar[str] = FlashVID.paper
    queries: ClassVar[str] = "last"

    def _compress(self, tokens: VideoTokens) -> Compression:
        score = required(tokens, "attention", "FlashVID")[:, -1].float().mean(dim=0)  # [L]
        rows = len(tokens)
        few = self.exact_count(tokens, "FlashVID") if self.exact else math.ceil(rows * self.share)
        keep = top_indices(score, few)
        return Compression.pruned(keep, tokens.grid, {"attention": score}, num_tokens=rows)
