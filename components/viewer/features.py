"""Measures of a clip's token features: novelty, effective rank and residual energy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import torch

from gleanvid.compressors.gleanvid.debiasing import remove_directions, top_directions
from gleanvid.compressors.shared.threads import on_one_thread
from gleanvid.metrics import effective_rank, effective_rank_so_far, novelty, projected
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

MOST_ROWS = 2048  # most kept tokens whose residual energy is computed on each move of a slider


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
_energies: WeakKeyDictionary[Compression, list[float | None]] = WeakKeyDictionary()


def clip_features(tokens: VideoTokens) -> ClipFeatures:
    """Compute the features of a clip, cached; ``tokens``: all tokens of the clip."""
    if tokens not in _known:
        features = tokens.features.detach().float()
        mean = features.mean(0)
        shared = top_directions(features, mean, 1)
        debiased = remove_directions(features, mean, shared)
        _known[tokens] = ClipFeatures(
            novelty(debiased, tokens.grid), mean, shared, projected(debiased)
        )
    return _known[tokens]


def effective_ranks(tokens: VideoTokens, record: Compression) -> list[float]:
    """Return the effective rank of each unit's kept tokens; ``tokens``: all tokens of the clip."""
    whole = record.num_kept == len(tokens) and not record.merges
    key = tokens if whole else record
    if key not in _ranks:
        debiased = _kept(tokens, record)
        budgets = record.budgets.tolist()
        _ranks[key] = on_one_thread(
            lambda: [round(effective_rank(rows), 3) for rows in debiased.split(budgets)],
            2.0 * debiased.numel() * max(budgets),
            debiased.device,
        )
    return _ranks[key]


def ranks_so_far(tokens: VideoTokens, record: Compression) -> list[float]:
    """Return for each unit the effective rank of all compressed tokens up to its end."""
    if record not in _spans:
        found = effective_rank_so_far(clip_features(tokens).places, record)
        _spans[record] = [round(value, 3) for value in found.tolist()]
    return _spans[record]


def new_energies(tokens: VideoTokens, record: Compression) -> list[float | None] | None:
    """Return :func:`gleanvid.metrics.residual_energy_by_unit`, fast enough for a slider.

    The row of a token in the Cholesky factor of the Gram matrix holds its part in each direction
    that the tokens up to it add; those of its own unit are the energy that earlier units lack.
    None for a unit without tokens. All of it is None for more than ``MOST_ROWS`` tokens.
    """
    if record.num_kept > MOST_ROWS:
        return None
    if record not in _energies:
        rows = _kept(tokens, record).double().cpu()
        budgets = record.budgets.cpu()
        units = torch.repeat_interleave(budgets)

        def measure() -> list[float | None]:
            gram = rows @ rows.T
            energy = gram.diagonal().clamp(min=1e-300)
            ridge = torch.eye(len(rows), dtype=torch.float64) * (1e-9 * energy.mean())
            factor = torch.linalg.cholesky(gram + ridge)
            new = (factor.square() * (units[:, None] == units)).sum(1) / energy
            total = torch.zeros(len(budgets), dtype=torch.float64).index_add_(0, units, new)
            means = (total / budgets).clamp(max=1.0).tolist()
            return [None if mean != mean else float(f"{mean:.4g}") for mean in means]

        operations = 2.0 * len(rows) ** 2 * rows.shape[1]
        _energies[record] = on_one_thread(measure, operations, rows.device)
    return _energies[record]


def _kept(tokens: VideoTokens, record: Compression) -> Tensor:
    """Return the debiased features of the kept or merged tokens, float32 [K, D]."""
    clip, kept = clip_features(tokens), record.apply(tokens.features.detach()).float()
    # Merged tokens can be debiased too, as the weights within a merged token sum to 1.
    return remove_directions(kept, clip.mean, clip.shared)
