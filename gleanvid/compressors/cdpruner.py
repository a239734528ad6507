"""CDPruner: a diverse subset of the tokens that the question is about (conditional DPP).

Tokens are picked one by one for being about the question and unlike the tokens picked before. A
determinantal point process weighs relevance against diversity.

Zhang, Liu, Li, Lu et al., "Beyond Attention or Similarity: Maximizing Conditional Diversity for
Token Pruning in MLLMs" (NeurIPS 2025), https://arxiv.org/abs/2506.10967. Written from the formulas.
The authors compare CLIP embeddings of image and text; their LLaVA code negates the cosine, and they
published no code for models without a text encoder. Here the question's input embeddings are used
instead of CLIP's, with the sign of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.compressors.shared.ranking import top_indices
from gleanvid.compressors.shared.records import required
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_EXHAUSTED = 1e-12  # squared distances below this fraction of the largest are rounding errors


@dataclass(frozen=True)
class CDPruner(Compressor):
    """Prunes tokens before the language model, by features and the question.

    The method is greedy MAP inference of the determinantal point process with the kernel
    q_i cos(x_i, x_j) q_j for tokens x_i. The relevance r_i is the mean cosine of a token to the
    question's tokens, scaled to [0, 1] over the video. The quality q_i is r_i; with ``theta`` below
    1 it is exp(theta / (2 (1 - theta)) r_i): the smaller ``theta``, the less relevance counts.

    The kernel is never formed. The gain of a token is the squared distance of q_i x_i / |x_i| from
    the span of the chosen ones, in float64. If the kernel's rank is below the budget, the most
    relevant of the remaining tokens are added.
    """

    name: ClassVar[str] = "cdpruner"
    title: ClassVar[str] = "CDPruner"
    paper: ClassVar[str] = "Zhang et al., NeurIPS 2025, https://arxiv.org/abs/2506.10967"
    licence: ClassVar[str] = "Apache-2.0"
    needs: ClassVar[frozenset[str]] = frozenset({"text"})
    reported: ClassVar[str] = "94 % of LLaVA's accuracy at 95 % fewer FLOPs (abstract)"
    not_ported: ClassVar[str] = "relevance by CLIP's embeddings, which language models lack"

    theta: float = setting(
        1.0, "Weight of a token's relevance to the question (paper: 1)", low=0.0, high=1.0, step=0.1
    )

    def _compress(self, tokens: VideoTokens) -> Compression:
        text = required(tokens, "text", "CDPruner").double()
        unit = torch.nn.functional.normalize(tokens.features.double(), dim=-1)
        relevance = _scaled(unit @ torch.nn.functional.normalize(text, dim=-1).mean(dim=0))
        quality = relevance
        if self.theta < 1:
            quality = torch.exp(self.theta / (2 * (1 - self.theta)) * relevance)
        chosen, gain = _greedy_map(unit * quality[:, None], self.budget(tokens))
        if (missing := self.budget(tokens) - len(chosen)) > 0:
            rest = top_indices(relevance.index_fill(0, chosen, float("-inf")), missing)
            chosen = torch.cat([chosen, rest])
        scores = {"relevance": relevance, "gain": gain}
        return Compression.pruned(chosen.sort().values, tokens.grid, scores)


def _scaled(values: Tensor) -> Tensor:
    """Return ``values`` [L] shifted and scaled to [0, 1]; all ones if all values are equal."""
    low, high = torch.aminmax(values)
    return (values - low) / (high - low) if high > low else torch.ones_like(values)


def _greedy_map(vectors: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Greedily choose ``count`` of the ``vectors`` [L, D] to maximise their Gram determinant.

    Each choice has the largest squared distance from the span of the vectors chosen so far; ties go
    to the lower index. Returns the chosen indices in this order, int64, fewer than ``count`` if the
    rank is smaller, and the squared distances [L]: of a chosen vector when it was chosen, of any
    other at the end.
    """
    left = vectors.square().sum(dim=1)
    floor = _EXHAUSTED * float(left.max())
    # orthonormal basis of the chosen vectors
    basis = vectors.new_zeros(min(count, vectors.shape[1]), vectors.shape[1])
    chosen: list[int] = []
    added: list[float] = []
    for step in range(len(basis)):
        gain, best = left.max(dim=0)
        if float(gain) <= floor:
            break
        row = vectors[best]
        for _ in range(2):  # the second projection removes the rounding errors of the first
            row = row - (basis[:step] @ row) @ basis[:step]
        basis[step] = torch.nn.functional.normalize(row, dim=0)
        left = left - (vectors @ basis[step]).square()
        left[best] = float("-inf")  # no vector is chosen twice
        chosen.append(int(best))
        added.append(float(gain))
    order = torch.tensor(chosen, dtype=torch.long, device=vectors.device)
    return order, left.clamp(min=0).index_copy(0, order, left.new_tensor(added))
