"""Random choices of visual tokens to train on, and batches without the dropped tokens.

A model that trains on them learns to answer from any subset of the tokens. Dropped tokens are
removed from the prompt as by a compressor: kept tokens keep their positions and their rows of the
DeepStack levels. Letters: U units of R x C tokens, M = U * R * C.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from gleanvid.glimpse.training.batches import Batch, answers_begin

KINDS = ("uniform", "time", "column", "blob")
LEAST = 0.05  # smallest fraction of a clip's tokens that is kept
WHOLE = 0.3  # fraction of clips that keep every token
# Range of the standard deviation of the log-odds that a token is kept, for masks that vary.
_UNEVEN = (1.0, 4.0)
# Masks of kind "blob" come from a coarse grid of noise, with at most this many cells per dimension.
_BLOB = 3


def draw_share(rng: np.random.Generator) -> float:
    """Draw the fraction of tokens to keep: 1, or log-uniform in [``LEAST``, 1]."""
    return 1.0 if rng.random() < WHOLE else float(np.exp(rng.uniform(np.log(LEAST), 0.0)))


def draw_mask(rng: np.random.Generator, grid: tuple[int, int, int], share: float) -> Tensor:
    """Draw the tokens of ``grid`` (U, R, C) to keep: bool [M], a fraction ``share``, at least one.

    Tokens are drawn without replacement, evenly or with odds that vary by unit, by place or in
    blobs.
    """
    total = int(np.prod(grid))
    keep = torch.zeros(total, dtype=torch.bool)
    odds = rng.gumbel(size=grid) + _log_odds(rng, grid, KINDS[rng.integers(len(KINDS))])
    keep[torch.from_numpy(np.argsort(-odds.reshape(-1))[: max(1, round(share * total))])] = True
    return keep


def _log_odds(rng: np.random.Generator, grid: tuple[int, int, int], kind: str) -> np.ndarray:
    """Return log-odds that tokens are kept, in a shape that broadcasts to ``grid``."""
    strength, (units, rows, columns) = rng.uniform(*_UNEVEN), grid
    if kind == "time":
        return strength * rng.normal(size=(units, 1, 1))
    if kind == "column":
        return strength * rng.normal(size=(1, rows, columns))
    if kind == "blob":
        coarse = rng.normal(size=[rng.integers(1, min(side, _BLOB) + 1) for side in grid])
        places = (np.arange(side) * n // side for side, n in zip(grid, coarse.shape, strict=True))
        return strength * coarse[np.ix_(*places)]
    return np.zeros((1, 1, 1))


def without_tokens(
    batch: Batch, positions: Tensor, streams: list[Tensor], keep: Tensor, video_token: int
) -> tuple[Batch, Tensor, list[Tensor]]:
    """Remove all visual tokens but those in ``keep`` bool [M] from a batch of one clip.

    Returns the shorter batch, positions [3, 1, S] and streams [M, D]. ``video_token``: id of the
    placeholders in ``batch.ids``.
    """
    columns = batch.ids[0] != video_token
    columns[~columns] = keep
    kept = {name: getattr(batch, name)[:, columns] for name in ("ids", "segments", "weights")}
    labels = batch.labels[:, columns]
    shorter = replace(
        batch,
        **kept,
        labels=labels,
        asked=answers_begin(labels),
        evidence=batch.evidence[:, keep],
        seen=batch.seen[keep],
        happened=batch.happened[keep],
    )
    return shorter, positions[..., columns], [stream[keep] for stream in streams]
