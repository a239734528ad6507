"""EVS: keep the first unit, and the tokens that changed most since the unit before.

Every token is compared with the token at the same position one unit before. The tokens that changed
most are kept, by one ranking over the whole clip.

Bagrov, Khvedchenia, Tymchenko et al., "Efficient Video Sampling: Pruning Temporally Redundant
Tokens for Faster VLM Inference" (2025), https://arxiv.org/abs/2510.14624. Follows the version that
vLLM ships (Apache-2.0), which compares features where the paper compares pixels. Not ported: vLLM's
new M-RoPE positions of kept tokens; models keep the original ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor
from gleanvid.compressors.settings import exact_setting
from gleanvid.compressors.shared.ranking import top_indices
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_FIRST = 255.0  # score of tokens in the first unit; every other score, 1 - cosine, is at most 2


@dataclass(frozen=True)
class EVS(Compressor):
    """Prunes tokens before the language model, by one ranking of features over the whole video.

    The first of the T units is kept whole. With ``exact`` a ratio below 1 / T therefore raises
    ``ValueError``, which names the lowest possible ratio. Without ``exact`` the first unit is kept
    at any ratio, and the number of tokens is truncated as in the authors' code, which may lose one
    token. Scores are float32 for any dtype of the features; the original uses the model's dtype.

    >>> EVS(0.5).compress(VideoTokens(torch.rand(24, 8), (4, 2, 3))).budgets.tolist()[0]
    6
    """

    name: ClassVar[str] = "evs"
    title: ClassVar[str] = "EVS"
    paper: ClassVar[str] = "Bagrov et al., 2025, https://arxiv.org/abs/2510.14624"
    licence: ClassVar[str] = "Apache-2.0"
    keeps_whole: ClassVar[str] = "one unit"
    reported: ClassVar[str] = "time to first token up to 4 times shorter (abstract)"
    not_ported: ClassVar[str] = "new M-RoPE positions for kept tokens"

    exact: bool = exact_setting()

    def _compress(self, tokens: VideoTokens) -> Compression:
        score = _changes(tokens)  # [T, N]: change of each token
        keep = top_indices(score.flatten(), self._count(tokens))
        change = torch.cat([torch.zeros_like(score[:1]), score[1:]])
        return Compression.pruned(keep, tokens.grid, {"change": change.flatten()})

    def _count(self, tokens: VideoTokens) -> int:
        """Return how many tokens of the video to keep."""
        per_unit = tokens.tokens_per_unit
        if not self.exact:
            pruned = 1.0 - self.retention_ratio  # the authors' code takes the pruned fraction
            return max(per_unit, int(len(tokens) * (1.0 - pruned)))
        if (budget := self.budget(tokens)) < per_unit:
            raise ValueError(
                f"retention_ratio={self.retention_ratio!r} is out of reach for EVS: the first "
                f"unit, which it keeps whole, is {1 / tokens.num_units:.3f} of this video"
            )
        return budget


def _changes(tokens: VideoTokens) -> Tensor:
    """Return 1 - cosine of each token to that at the same position one unit before, [T, N].

    The tokens of the first unit, which have none before them, get ``_FIRST``.
    """
    features = tokens.features.float().view(tokens.num_units, tokens.tokens_per_unit, -1)
    first = features.new_full((1, tokens.tokens_per_unit), _FIRST)
    cosine = torch.nn.functional.cosine_similarity(features[1:], features[:-1], dim=-1, eps=1e-8)
    return torch.cat([first, 1.0 - cosine])
