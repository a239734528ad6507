"""FastV: cut visual tokens inside the language model by the attention of the last prompt token.

All visual tokens pass the first K layers. From layer K on, only the tokens that the last prompt
token attends to most are kept.

Chen, Zhao, Liu, Bai, Lin, Zhou, Chang, "An Image is Worth 1/2 Tokens After Layer 2" (ECCV 2024),
https://arxiv.org/abs/2403.06764. Not ported: the variant without a cache, which masks
tokens anew in every forward pass, and the Qwen3-VL port that scores by all queries and cuts after
layer K.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gleanvid.compressors.base import Compressor, setting
from gleanvid.compressors.settings import exact_on_average_setting, num_layers_setting
from gleanvid.compressors.shared.depth import rows_for_average
from gleanvid.compressors.shared.ranking import top_indices
from gleanvid.compressors.shared.records import identity_record, required
from gleanvid.types import Compression, VideoTokens


@dataclass(frozen=True)
class FastV(Compressor):
    """One stage before layer K; the score of a token is the attention it gets in layer K - 1.

    K is the setting ``layer``. With ``exact`` the retention ratio is the average over all layers.
    The first K layers see all tokens; if these alone exceed the ratio, ``ValueError`` names the
    lowest possible one. Without ``exact`` the ratio is the fraction of the tokens kept from layer K
    on, as in the paper. The number of tokens is then rounded half to even.
    """

    name: ClassVar[str] = "fastv"
    title: ClassVar[str] = "FastV"
    paper: ClassVar[str] = "Chen et al., ECCV 2024, https://arxiv.org/abs/2403.06764"
    licence: ClassVar[str] = "none stated"
    reported: ClassVar[str] = "45 % fewer FLOPs, nothing lost: LLaVA-1.5-13B (abstract)"
    queries: ClassVar[str] = "last"

    layer: int = setting(
        2, "Language-model layer before which tokens are dropped, K", low=1, high=127, step=1
    )
    num_layers: int = num_layers_setting()
    exact: bool = exact_on_average_setting()

    @property
    def stages(self) -> tuple[tuple[int, Compressor], ...]:
        return ((self.layer, self),)

    def _compress(self, tokens: VideoTokens) -> Compression:
        """Compress by the attention of the last prompt token, ``tokens.attention[:, -1]``."""
        total, ratio = len(tokens), self.retention_ratio
        if self.exact and ratio == 1.0:
            return identity_record(tokens)
        score = required(tokens, "attention", "FastV")[:, -1].float().mean(dim=0)  # [L]
        if self.exact:
            count = rows_for_average(total, total, ratio, self.layer, self.num_layers, "FastV")
        else:
            # rounded like the original, whose argument is the removed fraction
            count = round(total * (1.0 - (1.0 - ratio)))
        keep = top_indices(score, count)
        return Compression.pruned(keep, tokens.grid, {"attention": score}, num_tokens=total)
