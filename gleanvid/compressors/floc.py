"""FLoC: the tokens that together represent all tokens best (facility location).

A set of tokens is good if it has a similar token for every token of the clip. Tokens are picked one
by one, each the one that raises the sum of these similarities most.

Cho, Lee, Hayat, Hwang, Porikli, Choi, "FLoC: Facility Location-Based Efficient Visual Token
Compression for Long Video Understanding" (ICLR 2026), https://arxiv.org/abs/2511.00141. Written
from the objective and the algorithm that the paper names; no code was published. Not ported:
how the authors split a long video, which is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_CHUNK = 512  # number of columns of the cosine matrix that are held in memory at a time


@dataclass(frozen=True)
class FLoC(Compressor):
    """Prunes tokens before the language model, by features alone.

    The method greedily maximises sum_i max_{j kept} cos(x_i, x_j) over all tokens i of the video.
    Each choice is the token that raises the sum most (its gain); ties go to the lower index.

    The paper's lazy greedy algorithm chooses the same tokens. Here each choice updates all gains,
    over the few tokens i whose nearest kept token changed, which is faster for videos.

    >>> FLoC(0.25).compress(VideoTokens(torch.eye(4).repeat(4, 1), (4, 2, 2))).keep.tolist()
    [0, 1, 2, 3]
    """

    name: ClassVar[str] = "floc"
    title: ClassVar[str] = "FLoC"
    paper: ClassVar[str] = "Cho et al., ICLR 2026, https://arxiv.org/abs/2511.00141"
    licence: ClassVar[str] = "no code published"
    reported: ClassVar[str] = "none in the abstract"
    not_ported: ClassVar[str] = "how authors split a long video (not known)"

    def _compress(self, tokens: VideoTokens) -> Compression:
        unit = torch.nn.functional.normalize(tokens.features.float(), dim=-1)
        chosen, cover = _facilities(unit, self.budget(tokens))
        record = Compression.pruned(chosen.sort().values, tokens.grid, {"coverage": cover})
        return replace(record, state={"order": chosen})


def _facilities(unit: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Greedily choose ``count`` of the unit vectors [L, D] to maximise the sum in :class:`FLoC`.

    Returns their indices in the order chosen, int64 [count], and the cosine of each vector to the
    nearest chosen one, [L]. The first choice has the largest sum of cosines to all vectors, even if
    that is negative. The gain of any later choice is never negative, and gains only shrink.
    """
    first = (unit.double() @ unit.sum(dim=0, dtype=torch.float64)).argmax(dim=0, keepdim=True)
    chosen, cover = [first], unit @ unit.index_select(0, first)[0]
    gain = _adds(unit, torch.arange(len(unit), device=unit.device), cover)
    while len(chosen) < count:
        gain.index_fill_(0, chosen[-1], float("-inf"))
        chosen.append(gain.argmax(dim=0, keepdim=True))
        nearer = torch.maximum(cover, unit @ unit.index_select(0, chosen[-1])[0])
        changed = torch.nonzero(nearer > cover).squeeze(1)
        gain = gain - _adds(unit, changed, cover, nearer)
        cover = nearer
    return torch.cat(chosen), cover


def _adds(unit: Tensor, at: Tensor, cover: Tensor, nearer: Tensor | None = None) -> Tensor:
    """Return how much each unit vector would raise the sum of ``cover`` if chosen, float64 [L].

    ``cover`` [L]: cosine of each token to the nearest chosen one; the sum is over the token indices
    ``at`` int64 [n]. With ``nearer`` [L], which is ``cover`` after one more choice, return how much
    each gain is lower after that choice.
    """
    total = torch.zeros(len(unit), dtype=torch.float64, device=unit.device)
    for part in at.split(_CHUNK):
        cosine = unit @ unit[part].T
        adds = (cosine - cover[part]).clamp_(min=0)
        if nearer is not None:
            adds = torch.minimum(adds, nearer[part] - cover[part])
        total += adds.sum(dim=1, dtype=torch.float64)
    return total
