"""Context debiasing (Eq. debias), the space in which all subspace metrics are taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gleanvid.ops.debiasing import remove_directions, top_directions

if TYPE_CHECKING:
    from torch import Tensor


def debiased(features: Tensor, rank: int = 1) -> Tensor:
    """Tokens without their ``rank`` shared context directions: [L, D] -> float32 [L, D].

    Depends on the clip alone: compute it once and measure every record of the clip with it.
    """
    rows = features.detach().float()
    mean = rows.mean(0)
    return remove_directions(rows, mean, top_directions(rows, mean, rank))
