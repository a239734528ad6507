"""Resize: every unit at a lower resolution, by averages over blocks of its token grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gleanvid.compressors.base import Compressor
from gleanvid.compressors.shared.blocks import averaged_blocks
from gleanvid.types import Compression, VideoTokens


@dataclass(frozen=True)
class Resize(Compressor):
    """Averages each unit over blocks of its grid; each block becomes one token.

    The numbers of tokens of two units differ by at most one. The grid of a unit is cut into
    horizontal bands, and each band into blocks. Some bands may have one block more than others, so
    the budget is met exactly. If the budget is less than one token per unit, evenly spaced units
    are reduced to their mean and the others are dropped.

    >>> Resize(0.25).compress(VideoTokens(torch.rand(72, 8), (2, 6, 6))).budgets.tolist()
    [9, 9]
    """

    name: ClassVar[str] = "resize"
    title: ClassVar[str] = "Resize"
    paper: ClassVar[str] = "baseline: lower resolution"
    merges: ClassVar[bool] = True

    def _compress(self, tokens: VideoTokens) -> Compression:
        return averaged_blocks(tokens, tokens.num_units, self.budget(tokens))
