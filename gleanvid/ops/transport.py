"""Entropic optimal transport between two sets of tokens with the same total weight.

Cuturi, "Sinkhorn Distances: Lightspeed Computation of Optimal Transport" (NeurIPS 2013).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


def sinkhorn(cost: Tensor, epsilon: float, rounds: int = 100, tolerance: float = 1e-2) -> Tensor:
    """Return the plan [B, m, n] that carries m sources of weight 1/m to n targets of weight 1/n.

    ``cost`` [B, m, n]: cost of each pair; ``epsilon``: strength of the entropic term. The
    iteration ends when the scaling of the sources changes by less than ``tolerance`` on average
    over the batch, or after ``rounds`` steps. Columns of the plan then sum to 1/n, rows to nearly
    1/m.
    """
    kernel = torch.exp(-cost / epsilon)
    rows = torch.ones_like(kernel[..., :1])  # [B, m, 1]
    columns = torch.ones_like(kernel[..., :1, :])  # [B, 1, n]
    for _ in range(rounds):
        before = rows
        rows = 1.0 / (kernel.shape[-2] * (kernel * columns).sum(dim=-1, keepdim=True))
        columns = 1.0 / (kernel.shape[-1] * (kernel * rows).sum(dim=-2, keepdim=True))
        if float((rows - before).abs().mean()) < tolerance:
            break
    return rows * kernel * columns
