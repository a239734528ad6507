"""Measures of a clip's token features: novelty and effective rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import torch

from gleanvid.compressors.gleanvid.debiasing import remove_directions, top_directions
from gleanvid.compressors.shared.threads import on_one_thread
from gleanvid.metrics import effective_rank, novelty
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

SPAN_WIDTH = 96  # number of random directions on which features are projected to measure their rank


@dataclass(frozen=True, eq=False)
class ClipFeatures:
    """What the viewer needs of the features of a clip with T temporal units and L tokens.

    ``novelty``: float64 [T], novelty of each unit by GleanVID's default settings.
    """

    novelty: Tensor
    mean: Tensor  # [D]: mean of the features over all tokens
    shared: Tensor  # [1, D]: the context direction, removed by debiasing
    places: Tensor  # float64 [L, up to 96]: debiased features, projected on random directions


_known: WeakKeyDictionary[VideoTokens, ClipFeatures] = WeakKeyDictionary()
_ranks: WeakKeyDictionary[Compression | VideoTokens, list[float]] = WeakKeyDictionary()
_spans: WeakKeyDictionary[Compression, list[float]] = WeakKeyDictionary()


def clip_features(tokens: VideoTokens) -> ClipFeatures:
    """Compute the features of a clip, cached; ``tokens``: all tokens of the clip."""
    if tokens not in _known:
        features = tokens.features.detach().float()
        mean = features.mean(0)
        shared = top_directions(features, mean, 1)
        debiased = remove_directions(features, mean, shared)
        _known[tokens] = ClipFeatures(
            novelty(debiased, tokens.grid), mean, shared, _projected(debiased)
        )
    return _known[tokens]


def _projected(rows: Tensor) -> Tensor:
    """Project features [L, D] on 96 random orthonormal directions if D > 96; float64 on the CPU."""
    width = rows.shape[1]
    if width <= SPAN_WIDTH:
        return rows.double().cpu()
    drawn = torch.randn(width, SPAN_WIDTH, generator=torch.Generator().manual_seed(0))
    return (rows @ torch.linalg.qr(drawn).Q.to(rows)).double().cpu()


def effective_ranks(tokens: VideoTokens, record: Compression) -> list[float]:
    """Return the effective rank of each unit's kept tokens; ``tokens``: all tokens of the clip."""
    whole = record.num_kept == len(tokens) and not record.merges
    key = tokens if whole else record
    if key not in _ranks:
        clip = clip_features(tokens)
        kept = record.apply(tokens.features.detach()).float()
        # Merged tokens can be debiased too, as the weights within a merged token sum to 1.
        debiased = remove_directions(kept, clip.mean, clip.shared)
        budgets = record.budgets.tolist()
        _ranks[key] = on_one_thread(
            lambda: [round(effective_rank(rows), 3) for rows in debiased.split(budgets)],
            2.0 * debiased.numel() * max(budgets),
            debiased.device,
        )
    return _ranks[key]


def ranks_so_far(tokens: VideoTokens, record: Compression) -> list[float]:
    """Return for each unit the effective rank of all compressed tokens up to its end.

    It is measured on at most 96 random directions. This takes one small eigenvalue problem per
    unit, which is fast enough for a slider.
    """
    if record not in _spans:
        _spans[record] = _ranks_so_far(tokens, record)
    return _spans[record]


def _ranks_so_far(tokens: VideoTokens, record: Compression) -> list[float]:
    rows = record.apply(clip_features(tokens).places)  # [number of kept tokens, up to 96]
    budgets, width = record.budgets.tolist(), rows.shape[1]

    def measure() -> list[float]:
        grams = torch.stack([block.T @ block for block in rows.split(budgets)])
        # Of each unit, the singular values of all kept tokens up to its end: [T, up to 96].
        values = torch.linalg.eigvalsh(grams.cumsum(0)).clamp(min=0).sqrt()
        share = values / values.sum(1, keepdim=True).clamp(min=1e-300)
        return [round(value, 3) for value in torch.special.entr(share).sum(1).exp().tolist()]

    operations = 2.0 * len(rows) * width**2 + 9.0 * len(budgets) * width**3
    return on_one_thread(measure, operations, rows.device)
