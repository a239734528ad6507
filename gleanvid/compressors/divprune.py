"""DivPrune: the tokens whose smallest distance to one another is large (max-min diversity).

Tokens are picked one by one, each the farthest from all that were picked before. So a token that is
like a kept one is picked late or never.

Alvar, Singh, Akbari, Zhang, "DivPrune: Diversity-based Visual Token Pruning for Large Multimodal
Models" (CVPR 2025), https://arxiv.org/abs/2503.02175. The picks solve the max-min diversity
problem over all tokens of a video greedily. Not ported: the matrix of all pairs of tokens, whose
size grows with the square of the clip's length.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor
from gleanvid.compressors.settings import exact_setting
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_CHUNK = 512  # number of rows of the cosine matrix that are held in memory at a time


@dataclass(frozen=True)
class DivPrune(Compressor):
    """Prunes tokens before the language model, by features alone; distances are 1 - cosine.

    The first token chosen is the one farthest from its nearest neighbour. Each one after it has the
    largest distance to the nearest token chosen before; ties go to the lower index. No token is
    chosen twice; the authors' code may repeat one if all others equal chosen ones. Without
    ``exact`` the number of tokens is rounded half to even, as in the authors' code.

    >>> DivPrune(0.5).compress(VideoTokens(torch.eye(8), (2, 2, 2))).keep.tolist()
    [0, 1, 2, 3]
    """

    name: ClassVar[str] = "divprune"
    title: ClassVar[str] = "DivPrune"
    paper: ClassVar[str] = "Alvar et al., CVPR 2025, https://arxiv.org/abs/2503.02175"
    licence: ClassVar[str] = "CC BY-NC 4.0"
    reported: ClassVar[str] = "ahead of other methods over 16 image and video datasets (abstract)"

    exact: bool = exact_setting()

    def _compress(self, tokens: VideoTokens) -> Compression:
        count = self.budget(tokens)
        if not self.exact:
            count = max(1, round(self.retention_ratio * len(tokens)))
        unit = torch.nn.functional.normalize(tokens.features.float(), dim=-1)
        chosen, distance = _farthest_first(unit, count)
        keep = chosen.sort().values
        record = Compression.pruned(keep, tokens.grid, {"distance": distance})
        return replace(record, state={"order": chosen})


def _farthest_first(unit: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Choose ``count`` of the unit vectors [L, D], each the farthest from those chosen before.

    Returns the indices in the order chosen, int64 [count], and a distance 1 - cosine for every
    vector, [L]. A chosen vector has the distance to the nearest vector chosen before; the first has
    that to the nearest other vector. A vector not chosen has that to the nearest chosen vector.
    """
    gap, taken = _nearest(unit), float("-inf")
    chosen, widest = [], []
    for place in range(count):
        value, best = gap.max(dim=0, keepdim=True)
        distance = 1.0 - unit @ unit.index_select(0, best)[0]
        gap = torch.minimum(gap, distance) if place else distance
        gap.index_fill_(0, best, taken)
        chosen.append(best)
        widest.append(value)
    order = torch.cat(chosen)
    return order, gap.index_copy(0, order, torch.cat(widest))


def _nearest(unit: Tensor) -> Tensor:
    """Return 1 - cosine of each unit vector to the nearest other one, [L]; 0 for a single one."""
    if len(unit) == 1:
        return unit.new_zeros(1)
    parts = []
    for first in range(0, len(unit), _CHUNK):
        cosine = unit[first : first + _CHUNK] @ unit.T
        cosine.diagonal(offset=first).fill_(float("-inf"))
        parts.append(1.0 - cosine.amax(dim=1))
    return torch.cat(parts)
