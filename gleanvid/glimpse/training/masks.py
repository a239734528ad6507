"""Random subsets of a clip's visual tokens, and training batches without the other tokens.

A model that trains on such batches learns to answer from any subset of the tokens. The other tokens
are removed from the prompt as by a compressor: kept tokens keep their positions and their DeepStack
features. Letters in shapes: U temporal units of R x C tokens, M = U * R * C tokens in all.
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
_UNEVEN = (1.0, 4.0)  # range of the standard deviation of the log-odds that a token is kept
# For kind "blob", all tokens in one cell of a coarse grid have the same log-odds of being kept.
_BLOB = 3  # largest number of cells of the coarse grid along time, height and width each


def draw_share(rng: np.random.Generator) -> float:
    """Draw the fraction of tokens to keep: 1, or log-uniform in [``LEAST``, 1]."""
    return 1.0 if rng.random() < WHOLE else float(np.exp(rng.uniform(np.log(LEAST), 0.0)))


def draw_mask(rng: np.random.Generator, grid: tuple[int, int, int], share: float) -> Tensor:
    """Draw which tokens of ``grid`` (U, R, C) to keep, bool [M].

    A fraction ``share`` of the tokens is kept, at least one token. All tokens have the same odds,
    or the odds vary by unit, by position in the frame, or from one block of tokens to another.
    """
    total = int(np.prod(grid))
    keep = torch.zeros(total, dtype=torch.bool)
    odds = rng.gumbel(size=grid) + _log_odds(rng, grid, KINDS[rng.integers(len(KINDS))])
    keep[torch.from_numpy(np.argsort(-odds.reshape(-1))[: max(1, round(share * total))])] = True
    return keep


def _log_odds(rng: np.random.Generator, grid: tuple[int, int, int], kind: str) -> np.ndarray:
    """Draw the log-odds that each token is kept; their shape broadcasts to ``grid``."""
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

    Returns the shorter batch with its positions [3, 1, S] and the features of its visual tokens,
    [tokens kept, D] for each of ``streams``. ``video_token``: id that stands for a visual token in
    ``batch.ids``.
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
