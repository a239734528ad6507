"""What the features of a clip add to the viewer: novelty, likeness of tokens, effective rank.

Features stay on the server. The browser gets a sketch of each, 24 small integers whose cosines come
close to the true ones, so that "which kept tokens are most like this one" needs no call.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from gleanvid.compressors import GleanVID
from gleanvid.ops.cells import Cells
from gleanvid.ops.subspace import history_residuals, remove_directions, top_directions
from gleanvid.types import Compression, VideoTokens

SKETCH_WIDTH = 24
_SAMPLE = 2048  # rows that the sketch's directions are found from
_BLOCK = 4096  # rows debiased at a time: no second copy of all features is held


@dataclass(frozen=True, eq=False)
class Evidence:
    """``novelty`` float64 [T] as GleanVID measures it by default; ``sketch`` int8 [L, 24]."""

    novelty: Tensor
    sketch: np.ndarray
    mean: Tensor  # [D]
    shared: Tensor  # [1, D]: the context direction removed from all features


_held: WeakKeyDictionary[VideoTokens, Evidence] = WeakKeyDictionary()
_ranks: WeakKeyDictionary[Compression | VideoTokens, list[float]] = WeakKeyDictionary()


def evidence(tokens: VideoTokens) -> Evidence:
    """Computed once for every encoded clip. ``tokens`` are those ahead of the language model."""
    if tokens not in _held:
        features = tokens.features.detach()
        mean = features.float().mean(0)
        shared = top_directions(features.float(), mean, 1)
        sketch = _sketch(features, mean, shared)
        _held[tokens] = Evidence(_novelty(tokens, mean, shared), sketch, mean, shared)
    return _held[tokens]


def _sketch(features: Tensor, mean: Tensor, shared: Tensor) -> np.ndarray:
    """Debiased features of length one in their top directions, the largest value at 127."""
    count = min(len(features), _SAMPLE)
    rows = torch.linspace(0, len(features) - 1, count, device=features.device).long()
    sample = normalize(_debiased(features[rows], mean, shared), dim=1)
    axes = top_directions(sample, torch.zeros_like(mean), SKETCH_WIDTH)  # [24 or fewer, D]
    blocks = [
        normalize(_debiased(block, mean, shared), dim=1) @ axes.T
        for block in features.split(_BLOCK)
    ]
    places = torch.cat(blocks).cpu().numpy()
    levels = np.rint(places / (np.abs(places).max() or 1.0) * 127).astype(np.int8)
    return np.pad(levels, ((0, 0), (0, SKETCH_WIDTH - levels.shape[1])))


def _debiased(rows: Tensor, mean: Tensor, shared: Tensor) -> Tensor:
    return remove_directions(rows.float(), mean, shared)


def _novelty(tokens: VideoTokens, mean: Tensor, shared: Tensor) -> Tensor:
    units, rows, columns = tokens.grid
    method = GleanVID()
    cells = Cells(rows, columns, method.budget_neighborhood, tokens.features.device)
    per_unit = tokens.features.detach().view(units, rows * columns, -1)
    prototypes = torch.cat([cells.means(_debiased(unit, mean, shared)[None]) for unit in per_unit])
    residuals = history_residuals(prototypes, method.history, method.orth_tolerance)
    return (residuals * cells.sizes).sum(1).cpu()


def effective_ranks(tokens: VideoTokens, record: Compression) -> list[float]:
    """Effective rank of the kept rows of every unit; ``record`` covers all of ``tokens``.

    exp of the entropy of the normalised singular values of the debiased rows: the number of
    directions they really span. 0 where nothing is kept.
    """
    whole = record.num_kept == len(tokens) and not record.merges
    key = tokens if whole else record
    if key not in _ranks:
        facts = evidence(tokens)
        per_unit = tokens.tokens_per_unit
        units = (record.keep // per_unit).cpu()
        kept = record.apply(tokens.features.detach())
        _ranks[key] = [
            _effective_rank(_debiased(kept[units == unit], facts.mean, facts.shared))
            for unit in range(tokens.num_units)
        ]
    return _ranks[key]


def _effective_rank(rows: Tensor) -> float:
    if not len(rows):
        return 0.0
    squares = torch.linalg.eigvalsh((rows @ rows.T).double()).clamp(min=0)
    sizes = squares.sqrt()
    share = sizes / sizes.sum().clamp(min=1e-300)
    return round(float(torch.special.entr(share).sum().exp()), 3)
