"""Frames: keep evenly spaced units whole and drop the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from gleanvid.compressors.base import Compressor
from gleanvid.compressors.uniform import scattered_positions
from gleanvid.types import Compression, VideoTokens


@dataclass(frozen=True)
class FewerFrames(Compressor):
    """Keeps whole units, evenly spaced in time.

    The budget is met exactly. If it is no multiple of the number of tokens of a unit, the last of
    the chosen units keeps only some of its tokens, spread evenly over the grid.

    >>> FewerFrames(0.5).compress(VideoTokens(torch.rand(24, 8), (4, 2, 3))).budgets.tolist()
    [0, 6, 0, 6]
    """

    name: ClassVar[str] = "frames"
    title: ClassVar[str] = "Fewer frames"
    paper: ClassVar[str] = "baseline: fewer frames"

    def _compress(self, tokens: VideoTokens) -> Compression:
        units, rows, columns = tokens.grid
        per_unit, budget = rows * columns, self.budget(tokens)
        whole, rest = divmod(budget, per_unit)
        count = whole + (rest > 0)
        # the middle unit of each of ``count`` equal parts of the clip
        kept = (2 * torch.arange(count) + 1) * units // (2 * count)
        chosen = torch.zeros(units, per_unit, dtype=torch.bool)
        chosen[kept] = True
        if rest:
            chosen[kept[-1]] = False
            chosen[kept[-1], scattered_positions(rows, columns)[:rest]] = True
        keep = torch.nonzero(chosen.flatten()).squeeze(1)
        return Compression.pruned(keep.to(tokens.features.device), tokens.grid)
