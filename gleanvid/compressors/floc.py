"""FLoC: the tokens that together stand best for all tokens (facility location).

A set of tokens is good if every token of the clip has one in it that is much like it. Tokens are
picked one by one, each the one that improves this most.

Cho, Lee, Hayat, Hwang, Porikli, Choi, "FLoC: Facility Location-Based Efficient Visual Token
Compression for Long Video Understanding" (ICLR 2026), https://arxiv.org/abs/2511.00141. Written
from the objective and the algorithm that the paper names; no code was published. Not ported:
whatever the authors do to split a long video, which is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_CHUNK = 512  # columns of the cosine matrix that exist at a time


@dataclass(frozen=True)
class FLoC(Compressor):
    """Prunes before the model, by features alone.

    Greedy maximisation of sum_i max_{j kept} cos(x_i, x_j) over all tokens i of the video: every
    token chosen is the one that raises the sum most, ties to the lower index. The paper's lazy
    greedy chooses the same: it takes a gain anew where its earlier value could still be the
    largest. Gains of a video lie so close that dozens are asked for a choice, each over all tokens;
    here all are corrected at the few tokens whose best stand-in changed, which takes less time.

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
    """int64 [count] rows of [L, D] in the order chosen; cosine [L] of each to its nearest of them.

    The first is the one with the largest sum of cosines, which may all be negative; what others add
    after it is never negative and only shrinks.
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
    """float64 [L]: what each row of [L, D] adds to ``cover`` [L] at the tokens ``at`` [n].

    With ``nearer`` [L]: how much more that is than what it would add to ``nearer``.
    """
    total = torch.zeros(len(unit), dtype=torch.float64, device=unit.device)
    for part in at.split(_CHUNK):
        cosine = unit @ unit[part].T  # [L, n]
        adds = (cosine - cover[part]).clamp_(min=0)
        if nearer is not None:
            adds = torch.minimum(adds, nearer[part] - cover[part])
        total += adds.sum(dim=1, dtype=torch.float64)
    return total
