"""Most changed: keep the tokens that differ most from the same place in the previous unit."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.types import Compression, VideoTokens


@dataclass(frozen=True)
class MostChanged(Compressor):
    """Keeps the tokens that differ most from the same place in the previous unit."""

    name: ClassVar[str] = "most_changed"
    title: ClassVar[str] = "Most changed"
    paper: ClassVar[str] = "not published"

    first_unit: float = setting(
        1.0, "Score given to every token of the first unit", low=0.0, high=2.0, step=0.1
    )

    def _compress(self, tokens: VideoTokens) -> Compression:
        units = tokens.features.float().view(tokens.num_units, tokens.tokens_per_unit, -1)
        change = torch.full(units.shape[:2], self.first_unit, device=units.device)
        change[1:] = 1 - torch.cosine_similarity(units[1:], units[:-1], dim=-1)
        scores = change.flatten()
        keep = scores.topk(self.budget(tokens)).indices.sort().values
        return Compression.pruned(keep, tokens.grid, scores={"change": scores})
