"""DyCoke: drop from every other frame what repeats the frame before it.

Every second unit loses the tokens that are most like those at the same positions in the unit before
it. In each group of four units, except the last group, the third unit loses the tokens that are
most like those of the first.

Tao, Qin, You, Sui, Wang, "DyCoke: Dynamic Compression of Tokens for Fast Video Large Language
Models" (CVPR 2025), https://arxiv.org/abs/2411.15024. The temporal stage acts before the language
model. The decoding stage is not implemented: every decoding step would have to copy parts of the
cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.compressors.settings import exact_setting
from gleanvid.compressors.shared.apportion import largest_remainder
from gleanvid.compressors.shared.ranking import ranks
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_GROUP = 4  # number of frames in a group; the first frame of a group keeps all its tokens


@dataclass(frozen=True)
class DyCoke(Compressor):
    """DyCoke's temporal stage: drops tokens of a frame that repeat an earlier frame.

    Frames are counted from 0 and form groups of four. Frames 1, 3, 5, ... are compared with the
    frame before. Frames 2, 6, ... are compared with the first frame of their group, except in the
    last group. All other frames are kept whole: more than 1/4 of a video (9/32 at T = 32 frames).

    With ``exact`` a lower ratio raises ``ValueError``, which names the lowest possible ratio.
    Without ``exact`` the numbers of tokens are those of the authors' code, which drops the last
    frame entirely if T is odd. For T <= 4 that code fails; here the same rules hold, and a single
    frame is kept whole.
    """

    name: ClassVar[str] = "dycoke"
    title: ClassVar[str] = "DyCoke"
    paper: ClassVar[str] = "Tao et al., CVPR 2025, https://arxiv.org/abs/2411.15024"
    licence: ClassVar[str] = "Apache-2.0"
    keeps_whole: ClassVar[str] = "9 units of 32"
    reported: ClassVar[str] = "1.5 times faster, 1.4 times less memory (abstract)"
    not_ported: ClassVar[str] = "the stage during decoding (implemented, but no model runs it)"

    drop_share: float | None = setting(
        None,
        "Fraction of tokens dropped from each pruned frame, k (used only if exact is off)",
        kind=float,
        low=0.0,
        high=1.0,
        step=0.05,
        optional="1 - retention_ratio",
        start=0.75,
    )
    exact: bool = exact_setting()

    def _compress(self, tokens: VideoTokens) -> Compression:
        units, per_unit = tokens.num_units, tokens.tokens_per_unit
        features = tokens.features.float().view(units, per_unit, -1)
        partner = _partners(units).to(features.device)
        # [T, N]: cosine of each token to the one it is compared with
        similarity = torch.nn.functional.cosine_similarity(
            features, features[partner], dim=-1, eps=1e-8
        )
        counts = (
            self._exact_counts(tokens, partner) if self.exact else self._counts(tokens, partner)
        )
        chosen = ranks(-similarity) < counts.to(features.device)[:, None]
        keep = torch.nonzero(chosen.flatten()).squeeze(1)
        scores = {"distinctness": 1.0 - similarity.flatten()}
        return Compression.pruned(keep, tokens.grid, scores, {"whole": counts == per_unit})

    def _counts(self, tokens: VideoTokens, partner: Tensor) -> Tensor:
        """Return the number of tokens to keep in each frame, int64 [T], by the authors' formula.

        ``partner`` [T]: the frame with which each frame is compared. A frame that is compared with
        itself is kept whole.
        """
        units, per_unit = tokens.num_units, tokens.tokens_per_unit
        dropped = 1.0 - self.retention_ratio if self.drop_share is None else self.drop_share
        whole = partner.cpu() == torch.arange(units)
        counts = torch.where(whole, per_unit, int((1.0 - dropped) * per_unit))
        if units % 2 and units > 1:
            counts[-1] = 0
        return counts

    def _exact_counts(self, tokens: VideoTokens, partner: Tensor) -> Tensor:
        """Return the number of tokens to keep in each frame, int64 [T]; the sum is the budget.

        Frames that are compared with themselves in ``partner`` [T] are kept whole; the rest of the
        budget is divided evenly over the others.
        """
        units, per_unit = tokens.num_units, tokens.tokens_per_unit
        whole = partner.cpu() == torch.arange(units)
        left = self.budget(tokens) - int(whole.sum()) * per_unit
        if left < 0:
            floor = float(whole.float().mean())
            raise ValueError(
                f"retention_ratio={self.retention_ratio!r} is out of reach for DyCoke: "
                f"the frames it keeps whole are {floor:.3f} of this video"
            )
        counts = torch.full((units,), per_unit)
        counts[~whole] = largest_remainder(torch.ones(int((~whole).sum())), left, per_unit)
        return counts


def _partners(units: int) -> Tensor:
    """Return the frame with which each frame is compared, int64 [T]; itself if it stays whole."""
    partner = torch.arange(units)
    partner[1::2] -= 1
    firsts = torch.arange(0, max(units - _GROUP, 0), _GROUP)
    partner[firsts + 2] = firsts
    return partner
