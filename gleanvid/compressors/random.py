"""Random: tokens drawn without replacement from the whole video, from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.types import Compression, VideoTokens


@dataclass(frozen=True)
class Random(Compressor):
    """Every set of B tokens is equally likely; the same seed gives the same set on every device."""

    name: ClassVar[str] = "random"
    paper: ClassVar[str] = "baseline: seeded random choice"

    seed: int = setting(0, "Seed of the draw", low=0, high=2**31 - 1, step=1)

    def compress(self, tokens: VideoTokens) -> Compression:
        generator = torch.Generator().manual_seed(self.seed)
        order = torch.randperm(len(tokens), generator=generator)
        keep = order[: self.budget(tokens)].sort().values
        return Compression.pruned(keep.to(tokens.features.device), tokens.grid)
