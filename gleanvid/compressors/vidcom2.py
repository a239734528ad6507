"""VidCom2: larger budgets for unusual frames, then the most unusual tokens of each frame.

The farther a unit's tokens are from the mean of the whole video, the larger is its budget.
Within a unit, the tokens farthest from both means, the video's and the unit's, are kept.

Liu, Wang, Ma, Zhang, "Video Compression Commander: Plug-and-Play Inference Acceleration for Video
Large Language Models" (EMNLP 2025), https://arxiv.org/abs/2505.14454. Follows the published code,
which compares by Gaussian kernels where the paper speaks of cosines. Newline tokens, which that
code also handles, are handled by the model families here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.compressors.settings import exact_setting
from gleanvid.compressors.shared.apportion import largest_remainder
from gleanvid.compressors.shared.ranking import ranks, top_indices
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_BANDWIDTHS = (0.125, 0.25, 0.5, 1.0, 2.0)


@dataclass(frozen=True)
class VidCom2(Compressor):
    """Prunes tokens before the language model, by features alone.

    With ``exact`` the budget of B tokens is divided over the frames by largest remainder, at least
    one token per frame if B allows it. Without ``exact`` the number of each frame is rounded
    separately, to at least one token, as in the authors' code. The sum may then differ from B, and
    tokens are dropped even at ratio 1.0. Scores are float32 for any dtype of the features; the
    original uses the model's dtype, and bfloat16 rounds the frame weights coarsely.
    """

    name: ClassVar[str] = "vidcom2"
    title: ClassVar[str] = "VidCom2"
    paper: ClassVar[str] = "Liu et al., EMNLP 2025, https://arxiv.org/abs/2505.14454"
    licence: ClassVar[str] = "Apache-2.0"
    reported: ClassVar[str] = (
        "99.6 % of the full performance at 25 % of the tokens, generation time 70.8 % lower: "
        "LLaVA-OneVision (abstract)"
    )

    channel_ratio: float = setting(
        0.5,
        "Fraction of the feature channels to compare: those with the lowest variance",
        low=0.0,
        high=1.0,
        above_low=True,
    )
    temperature: float = setting(
        0.01,
        "Softmax temperature of the frame weights that set budgets",
        low=0.0,
        high=1.0,
        above_low=True,
        step=0.01,
    )
    exact: bool = exact_setting()

    def _compress(self, tokens: VideoTokens) -> Compression:
        units = _steady_units(tokens, self.channel_ratio)  # [T, N, C]
        to_video = _closeness(units, units.mean(dim=(0, 1)))
        to_frame = _closeness(units, units.mean(dim=1, keepdim=True))
        shares = self._shares(-to_video.mean(dim=1))
        budgets = self._budgets(shares, tokens)
        uniqueness = -(to_video + to_frame)  # [T, N]
        kept = ranks(uniqueness) < budgets.to(uniqueness.device)[:, None]
        keep = torch.nonzero(kept.flatten()).squeeze(1)
        scores = {"uniqueness": uniqueness.flatten()}
        return Compression.pruned(keep, tokens.grid, scores, {"share": shares})

    def _shares(self, uniqueness: Tensor) -> Tensor:
        """Return the fraction of its own tokens that each frame should keep, [T].

        ``uniqueness`` [T]: how unlike the whole video each frame is.
        """
        weights = torch.softmax((uniqueness - uniqueness.max()) / self.temperature, dim=0)
        return (self.retention_ratio * (1.0 + weights - weights.mean())).clamp(max=1.0)

    def _budgets(self, shares: Tensor, tokens: VideoTokens) -> Tensor:
        """Return the number of tokens to keep in each frame, int64 [T]."""
        quotas = shares * tokens.tokens_per_unit
        if not self.exact:
            return quotas.round().long().clamp(min=1)
        total = self.budget(tokens)
        floor = int(total >= tokens.num_units)
        return largest_remainder(quotas, total, tokens.tokens_per_unit, floor)


def _steady_units(tokens: VideoTokens, channel_ratio: float) -> Tensor:
    """Reduce the tokens to their channels of lowest variance; return unit vectors [T, N, C].

    The variance is taken over all tokens. C is the fraction ``channel_ratio`` of all channels.
    """
    features = tokens.features.float()
    variance = features.var(dim=0, unbiased=False)
    count = max(1, int(features.shape[1] * channel_ratio))
    steady = top_indices(-variance, count)
    units = torch.nn.functional.normalize(features.index_select(1, steady), dim=-1)
    return units.view(tokens.num_units, tokens.tokens_per_unit, -1)


def _closeness(units: Tensor, center: Tensor) -> Tensor:
    """Return how similar the tokens [T, N, C] are to ``center``, [T, N].

    The similarity is a sum of Gaussian kernels, one for each of ``_BANDWIDTHS``.
    """
    squares = (units - center).square().sum(dim=-1)
    return torch.stack([torch.exp(-squares / (2.0 * a)) for a in _BANDWIDTHS]).sum(dim=0)
