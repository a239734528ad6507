"""DivPrune: the tokens whose smallest distance to one another is large (max-min diversity).

Tokens are picked one by one, each the farthest from all that were picked before. So no two kept
tokens are nearly alike.

Alvar, Singh, Akbari, Zhang, "DivPrune: Diversity-based Visual Token Pruning for Large Multimodal
Models" (CVPR 2025), https://arxiv.org/abs/2503.02175. The greedy answer to the max-min diversity
problem, over all tokens of a video. Not ported: the matrix of all pairs, which grows with the
square of the clip.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_CHUNK = 512  # rows of the cosine matrix that exist at a time


@dataclass(frozen=True)
class DivPrune(Compressor):
    """Prunes before the model, by features alone; distances are 1 - cosine.

    The first token chosen is the one farthest from its nearest neighbour; each one after it is the
    farthest from all chosen before, ties to the lower index. Every token kept takes one product of
    all tokens with one. Without ``exact``: the authors' rounding of the count, half to even. A
    token is never chosen twice (the original may, once all that is left repeats what is chosen).

    >>> DivPrune(0.5).compress(VideoTokens(torch.eye(8), (2, 2, 2))).keep.tolist()
    [0, 1, 2, 3]
    """

    name: ClassVar[str] = "divprune"
    title: ClassVar[str] = "DivPrune"
    paper: ClassVar[str] = "Alvar et al., CVPR 2025, https://arxiv.org/abs/2503.02175"
    licence: ClassVar[str] = "CC BY-NC 4.0"
    reported: ClassVar[str] = "ahead of others over 16 image and video datasets (abstract)"

    exact: bool = setting(True, "Keep exactly the budget (off: the authors' own count)")

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
    """Choose ``count`` rows of [L, D], each the farthest from all rows chosen before it.

    Returns them in that order, int64 [count], and the distance [L] of every row to those chosen
    before it.
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
    """[L]: 1 - cosine of every row of [L, D] to the nearest other one; zero where there is none."""
    if len(unit) == 1:
        return unit.new_zeros(1)
    parts = []
    for first in range(0, len(unit), _CHUNK):
        cosine = unit[first : first + _CHUNK] @ unit.T
        cosine.diagonal(offset=first).fill_(float("-inf"))
        parts.append(1.0 - cosine.amax(dim=1))
    return torch.cat(parts)
