"""Random: tokens drawn without replacement from the whole video.

Every token is equally likely to be kept. Averages over several seeds are a chance baseline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.compressors.shared.content_seed import content_generator
from gleanvid.types import Compression, VideoTokens


@dataclass(frozen=True)
class Random(Compressor):
    """Chooses tokens at random; every set of tokens that meets the budget is equally likely.

    The draw depends on ``seed`` and on the features, so different clips get different sets
    (:func:`~gleanvid.compressors.shared.content_seed.content_generator`).

    >>> Random(0.5, seed=1).compress(VideoTokens(torch.rand(24, 8), (2, 3, 4))).num_kept
    12
    """

    name: ClassVar[str] = "random"
    title: ClassVar[str] = "Random"
    paper: ClassVar[str] = "baseline: seeded random choice"

    seed: int = setting(0, "Random seed of the selection", low=0, high=2**31 - 1, step=1)

    @property
    def is_random(self) -> bool:
        return True

    def _compress(self, tokens: VideoTokens) -> Compression:
        order = torch.randperm(len(tokens), generator=content_generator(tokens, self.seed))
        keep = order[: self.budget(tokens)].sort().values
        return Compression.pruned(keep.to(tokens.features.device), tokens.grid)
