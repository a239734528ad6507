"""Entropic optimal transport between two sets of tokens with the same total weight.

Cuturi, "Sinkhorn Distances: Lightspeed Computation of Optimal Transport" (NeurIPS 2013).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


def sinkhorn(cost: Tensor, epsilon: float, rounds: int = 100, tolerance: float = 1e-2) -> Tensor:
    """Return the transport plan [B, m, n] from m sources to n targets, by Sinkhorn's iteration.

    Each source has the weight 1/m, each target 1/n. ``cost`` [B, m, n]: cost of each pair.
    ``epsilon``: strength of the entropic term. The iteration ends when the scaling factors of the
    sources change by less than ``tolerance`` on average, or after ``rounds`` steps. The columns of
    the plan then sum to 1/n, its rows to nearly 1/m.
    """
    kernel = torch.exp(-cost / epsilon)
    rows = torch.ones_like(kernel[..., :1])  # [B, m, 1]: scaling factors of the sources
    columns = torch.ones_like(kernel[..., :1, :])  # [B, 1, n]: scaling factors of the targets
    for _ in range(rounds):
        before = rows
        rows = 1.0 / (kernel.shape[-2] * (kernel * columns).sum(dim=-1, keepdim=True))
        columns = 1.0 / (kernel.shape[-1] * (kernel * rows).sum(dim=-2, keepdim=True))
        if float((rows - before).abs().mean()) < tolerance:
            break
    return rows * kernel * columns
