"""CDPruner: a diverse subset of the tokens that the question is about (conditional DPP).

Tokens are picked one by one for being about the question and unlike the tokens picked before. A
determinantal point process weighs the two against each other.

Zhang, Liu, Li, Lu et al., "Beyond Attention or Similarity: Maximizing Conditional Diversity for
Token Pruning in MLLMs" (NeurIPS 2025), https://arxiv.org/abs/2506.10967. Written from the formulas.
The authors compare CLIP embeddings of image and text, with the sign of the cosine turned in their
LLaVA code; models without a text encoder have no published code. Here the question's input
embeddings stand in for CLIP's, with the sign of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.ops.ranking import top_indices
from gleanvid.ops.records import required
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_EXHAUSTED = 1e-12  # relative to the largest gain; smaller gains are rounding errors


@dataclass(frozen=True)
class CDPruner(Compressor):
    """Prunes before the model, by features and the question.

    Greedy MAP of the determinantal point process with the kernel r_i cos(x_i, x_j) r_j. r is the
    mean cosine of a token to the question's tokens, scaled to [0, 1] over the video; with ``theta``
    below 1 it is exp(theta / (2 (1 - theta)) r) instead, which weighs relevance less the smaller
    ``theta`` is. Where the kernel's rank is below the budget, the most relevant of the remaining
    tokens fill it. Computed in float64, without the kernel: a token adds its squared distance from
    the span of those chosen.
    """

    name: ClassVar[str] = "cdpruner"
    title: ClassVar[str] = "CDPruner"
    paper: ClassVar[str] = "Zhang et al., NeurIPS 2025, https://arxiv.org/abs/2506.10967"
    licence: ClassVar[str] = "Apache-2.0"
    needs: ClassVar[frozenset[str]] = frozenset({"text"})
    reported: ClassVar[str] = "94 % of LLaVA's accuracy at 95 % fewer FLOPs (abstract)"
    not_ported: ClassVar[str] = "CLIP's embeddings, which language models lack"

    theta: float = setting(
        1.0, "Weight of the question; 1: the paper's kernel", low=0.0, high=1.0, step=0.1
    )

    def _compress(self, tokens: VideoTokens) -> Compression:
        """Raises ``ValueError`` without embeddings of the question [Q, D]."""
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
    """[L] moved and scaled to [0, 1]; all ones where they are alike."""
    low, high = torch.aminmax(values)
    return (values - low) / (high - low) if high > low else torch.ones_like(values)


def _greedy_map(vectors: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Choose rows of [L, D] whose Gram matrix has the largest determinant, one after another.

    Each row adds its squared distance from the span of those before it; ties go to the lower index.
    Returns int64 [at most ``count``] in the order chosen, fewer where the rank is smaller, and what
    each row added, or would add next, [L].
    """
    left = vectors.square().sum(dim=1)
    floor = _EXHAUSTED * float(left.max())
    basis = vectors.new_zeros(
        min(count, vectors.shape[1]), vectors.shape[1]
    )  # orthonormal basis of the chosen rows
    chosen: list[int] = []
    added: list[float] = []
    for step in range(len(basis)):
        gain, best = left.max(dim=0)
        if float(gain) <= floor:
            break
        row = vectors[best]
        for _ in range(2):  # twice, against rounding errors
            row = row - (basis[:step] @ row) @ basis[:step]
        basis[step] = torch.nn.functional.normalize(row, dim=0)
        left = left - (vectors @ basis[step]).square()
        left[best] = float("-inf")  # never chosen again
        chosen.append(int(best))
        added.append(float(gain))
    order = torch.tensor(chosen, dtype=torch.long, device=vectors.device)
    return order, left.clamp(min=0).index_copy(0, order, left.new_tensor(added))
