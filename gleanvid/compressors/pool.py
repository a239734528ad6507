"""Pool: averages over neighbouring units and over blocks of their token grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gleanvid.compressors.base import Compressor, setting
from gleanvid.compressors.shared.blocks import averaged_blocks
from gleanvid.types import Compression, VideoTokens


@dataclass(frozen=True)
class Pool(Compressor):
    """Average pooling over time and space: at 12.5 % over blocks of 2 x 2 x 2 tokens.

    The clip is cut into windows of ``units`` units, and each window into blocks of its grid, as
    ``Resize`` cuts a unit. Each block becomes one token, so the budget is met exactly. At 12.5 %,
    they are 2 x 2 x 2 if T, rows and columns are even. Windows are shorter if the budget exceeds
    one token per grid position of each window, and longer if it is below one token per window.

    >>> Pool(0.125).compress(VideoTokens(torch.rand(32, 8), (2, 4, 4))).budgets.tolist()
    [4, 0]
    """

    name: ClassVar[str] = "pool"
    title: ClassVar[str] = "Pool"
    paper: ClassVar[str] = "baseline: average pooling over time and space"
    merges: ClassVar[bool] = True

    units: int = setting(
        2, "Number of neighbouring temporal units averaged into one", low=1, high=16, step=1
    )

    def _compress(self, tokens: VideoTokens) -> Compression:
        budget, total = self.budget(tokens), tokens.num_units
        fewest = -(-budget // tokens.tokens_per_unit)
        windows = max(-(-total // self.units), fewest)
        return averaged_blocks(tokens, min(windows, budget), budget)
