"""SparseVLM: prune in three layers by the attention of the text tokens that relate to the video.

At three layers, visual tokens with most attention from these text tokens are kept. The next best
are clustered and averaged (recycled tokens), and the others are dropped.

Zhang, Fan, Ma et al., "SparseVLM: Visual Token Sparsification for Efficient Vision-Language Model
Inference" (ICML 2025), https://arxiv.org/abs/2410.04417, as version 1.5 does it. Not ported: the
rank-based video branch (it fails in the original) and version 2.0. A recycled token is at the
position of its cluster centre; the original appends it after the kept tokens and renumbers all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.compressors.settings import num_layers_setting
from gleanvid.compressors.shared.density_peaks import density_peaks
from gleanvid.compressors.shared.depth import scale_layer
from gleanvid.compressors.shared.ranking import descending
from gleanvid.compressors.shared.records import identity_record, merge_record, required
from gleanvid.types import Compression, VideoTokens

_LAYERS = (3, 7, 16)  # the stages act before these layers
_BASE = (300, 200, 110)  # tokens kept at these layers, of 576, for an average of 192
_IMAGE = 576
# density-peak score (a logarithm) recorded for tokens that were no candidates for merging
_NO_PEAK = -100.0
_EXACT = "Count recycled (merged) tokens towards the ratio (off: ignore them, as the authors do)"


@dataclass(frozen=True)
class SparseVLM(Compressor):
    """Prunes at three layers of the model; a stage before layer 0 only picks the raters.

    Raters are the text tokens that relate to the video. Each visual token gives the text tokens
    weights: a softmax over its dot products with their input embeddings. A text token is a rater if
    its mean weight is above the average of all text tokens.

    ``retention_ratio`` is the average over the layers. With ``exact`` the numbers of kept tokens
    are found by bisection. They include recycled tokens (means of merged ones) and never exceed the
    ratio. A ratio that is too low raises ``ValueError`` with the lowest possible one. In a model of
    28 layers this is above 3/28, because the first three see all tokens. Without ``exact`` numbers
    follow the authors' formula, which ignores recycled tokens and exceeds the ratio a little.
    """

    name: ClassVar[str] = "sparsevlm"
    title: ClassVar[str] = "SparseVLM"
    paper: ClassVar[str] = "Zhang et al., ICML 2025, https://arxiv.org/abs/2410.04417"
    licence: ClassVar[str] = "Apache-2.0"
    reported: ClassVar[str] = (
        "93 % of the full performance, tokens compressed by 78 %: LLaVA (abstract, first version)"
    )
    not_ported: ClassVar[str] = "the video branch, version 2.0"
    merges: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset({"text"})

    num_layers: int = num_layers_setting()
    exact: bool = setting(True, _EXACT)

    @property
    def stages(self) -> tuple[tuple[int, Compressor], ...]:
        layers = tuple(_schedule(self.num_layers))
        ratio = self.retention_ratio
        return (
            (0, self),
            *((k, SparseVLMStage(ratio, k, self.num_layers, self.exact)) for k in layers),
        )

    def _compress(self, tokens: VideoTokens) -> Compression:
        text = required(tokens, "text", "SparseVLM").float()
        # [L, Q]: weight of each of the Q text tokens for each visual token
        affinity = torch.softmax(tokens.features.float() @ text.T, dim=1)
        relevance = affinity.mean(dim=0)
        raters = torch.nonzero(relevance > relevance.mean()).squeeze(1)
        if not len(raters):  # no text token is above the mean: all are raters
            raters = torch.arange(len(text), device=text.device)
        return replace(identity_record(tokens), state={"raters": raters})


@dataclass(frozen=True)
class SparseVLMStage(Compressor):
    """One pruning stage: keeps the tokens with most attention from the raters.

    The next best tokens are clustered, and the mean of each cluster is kept (recycled).
    ``tokens.previous`` must be the compression record of the stage before, which lists the raters.
    ``tokens.attention`` [heads, Q, L] is the attention of the Q text tokens in the layer before.
    """

    name: ClassVar[str] = "sparsevlm_stage"
    paper: ClassVar[str] = SparseVLM.paper
    queries: ClassVar[str] = "text"

    layer: int = setting(
        3, "Language-model layer before which tokens are pruned", low=1, high=127, step=1
    )
    num_layers: int = num_layers_setting()
    exact: bool = setting(True, _EXACT)

    def _compress(self, tokens: VideoTokens) -> Compression:
        if tokens.previous is None or "raters" not in tokens.previous.state:
            raise ValueError(
                "tokens.previous must be the compression record of SparseVLM's stage before"
            )
        raters = tokens.previous.state["raters"]
        attention = required(tokens, "attention", "SparseVLM").float()
        score = attention.mean(dim=0)[raters].mean(dim=0)  # [L]: mean over raters
        scores, state, rows = {"attention": score}, {"raters": raters}, len(tokens)
        count = self._count(tokens)
        if count >= rows and (self.exact or rows == 1):
            return replace(identity_record(tokens, scores), state=state)
        count = min(count, rows - 1)
        order = descending(score)
        home = torch.full_like(order, -1)
        home[order[:count]] = order[:count]
        pool = order[count : count + _pool_size(rows - count)]
        clusters = _recycled(rows - count)
        hidden = tokens.features[pool].float()
        centers, assignment, peak = density_peaks(hidden, clusters, clusters)
        home[pool] = pool[centers[assignment]]
        weight = torch.ones_like(score)
        weight[pool] = 1.0 / (torch.bincount(assignment, minlength=clusters)[assignment] + 1e-6)
        logs = torch.full_like(score, _NO_PEAK)
        scores["peak"] = logs.index_copy_(0, pool, peak.clamp(min=_NO_PEAK))
        return replace(merge_record(tokens, home, weight, scores), state=state)

    def _count(self, tokens: VideoTokens) -> int:
        total = tokens.num_units * tokens.tokens_per_unit
        return keep_counts(total, self.retention_ratio, self.num_layers, self.exact)[self.layer]


def _schedule(num_layers: int) -> dict[int, int]:
    """Return the number of tokens (of 576) that the authors keep, by the layer of each stage.

    Layers are scaled to ``num_layers``. If two stages fall on one layer, the later one counts.
    """
    return {scale_layer(k, num_layers): base for k, base in zip(_LAYERS, _BASE, strict=True)}


def _pool_size(dropped: int) -> int:
    return int(0.3 * dropped) + 1


def _recycled(dropped: int) -> int:
    """Return the number of merged tokens that are made from ``dropped`` >= 1 tokens."""
    return int(_pool_size(dropped) / 10) + 1


def keep_counts(total: int, ratio: float, num_layers: int, exact: bool) -> dict[int, int]:
    """Return how many tokens each stage keeps, by its layer, without recycled (merged) ones.

    ``total``: number of visual tokens that enter the model. ``ratio``: retention ratio, the average
    over the layers. Raises ``ValueError`` if no numbers of kept tokens meet it.
    """
    schedule = _schedule(num_layers)
    if exact:
        return _solved_counts(total, ratio, num_layers, schedule)
    layers = [*schedule, num_layers]
    weights = [after - layer for layer, after in pairwise(layers)]
    per_unit = sum(w * base for w, base in zip(weights, schedule.values(), strict=True)) / _IMAGE
    scale = (ratio * num_layers - layers[0]) / per_unit
    if scale <= 0:
        raise _out_of_reach(ratio, layers[0] / num_layers)
    return {k: round(total * scale * base / _IMAGE) for k, base in schedule.items()}


def _solved_counts(
    total: int, ratio: float, num_layers: int, schedule: dict[int, int]
) -> dict[int, int]:
    """Return the largest numbers of kept tokens, by layer of the stage, that ``ratio`` allows.

    They are proportional to the authors' numbers (:func:`_schedule`).
    """

    def counts(scale: float) -> dict[int, int]:
        wanted = (min(total, round(total * scale * base / _IMAGE)) for base in schedule.values())
        return dict(zip(schedule, (max(1, count) for count in wanted), strict=True))

    low, high = 0.0, 1.01 * _IMAGE / min(schedule.values())
    if _average(total, counts(high), num_layers) <= ratio:
        return counts(high)
    floor = _average(total, counts(low), num_layers)
    if floor > ratio and total > 1:
        raise _out_of_reach(ratio, floor)
    for _ in range(50):
        middle = (low + high) / 2
        fits = _average(total, counts(middle), num_layers) <= ratio
        low, high = (middle, high) if fits else (low, middle)
    return counts(low)


def _average(total: int, counts: dict[int, int], num_layers: int) -> float:
    """Return the fraction of visual tokens that a layer sees on average, recycled ones included.

    ``counts``: tokens that each stage keeps, by its layer. ``total``: tokens that enter the model.
    """
    rows, spent, before = total, 0, 0
    for layer, count in counts.items():
        spent += rows * (layer - before)
        rows = count + _recycled(rows - count) if count < rows else rows
        before = layer
    return (spent + rows * (num_layers - before)) / (num_layers * total)


def _out_of_reach(ratio: float, floor: float) -> ValueError:
    return ValueError(
        f"retention_ratio={ratio!r} is out of reach for SparseVLM: "
        f"it cannot average less than {floor:.3f} in a model of this depth"
    )
