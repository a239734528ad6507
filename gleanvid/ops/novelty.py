"""Temporal novelty of every unit (Algorithm 1, lines 10-17).

Letters: T units, C pooling cells, D width, S units solved at once, q units before them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

_TINY = 1e-300  # keeps the system of an all-zero history, which explains nothing, solvable
_SYSTEMS = 2**19  # least number of values in the Gram systems that are solved at once


def history_residuals(prototypes: Tensor, history: int | None, epsilon: float) -> Tensor:
    """Residual norms r_{t,n} of every cell (Eq. novelty): [T, C, D] -> float64 [T, C].

    Unit t is projected on the span of the same cell in the ``history`` preceding units (None: all).
    The Gram systems (Eq. batched_gram) of all cells, and of as many units as memory allows, are
    solved at once.
    """
    units, cells, width = prototypes.shape
    by_cell = prototypes.transpose(0, 1).double()  # little is left of cells that hardly change
    gram = torch.bmm(by_cell, by_cell.transpose(1, 2))  # [C, T, T]
    del by_cell  # as large as all the systems below
    squares = gram.diagonal(dim1=1, dim2=2)  # [C, T]
    left = squares.clone()
    batch = max(_SYSTEMS, cells * units * width // 3)  # in all at most as large as the prototypes
    step = max(1, batch // (cells * units * units))
    for start in range(1, units, step):
        stop = min(start + step, units)
        oldest = max(0, start - (history or units))
        gap = torch.arange(start, stop)[:, None] - torch.arange(oldest, stop - 1)  # on the host
        known = ((gap > 0) & (gap <= (history or units))).double()
        weights = epsilon * known / known.sum(1, keepdim=True)
        seen, weights = known.to(gram.device), weights.to(gram.device)  # [S, q]: does t see t'?
        past = slice(oldest, stop - 1)
        ridge = squares[:, past] @ weights.T  # [C, S]
        diagonal = torch.addcmul(1 - seen, ridge[..., None], seen)  # 1 keeps unseen rows solvable
        systems = gram[:, None, past, past] * (seen[:, :, None] * seen[:, None, :])
        systems.diagonal(dim1=2, dim2=3).add_(diagonal.clamp(min=_TINY))
        factor = torch.linalg.cholesky_ex(systems).L
        target = gram[:, start:stop, past] * seen
        half = torch.linalg.solve_triangular(factor, target[..., None], upper=False)
        left[:, start:stop].sub_(half.square().sum((-2, -1)))
    return left.clamp(min=0).sqrt().T


def novelty_shares(novelty: Tensor) -> tuple[Tensor, Tensor]:
    """Normalised novelty s_t [T] and its Gini coefficient c (Eq. gini), float64 on the CPU.

    Where all novelty [T] is zero, s_t is 1/T and c is zero.
    """
    values = novelty.tolist()
    units, total = len(values), math.fsum(values)
    if total <= 0:
        return torch.full((units,), 1 / units, dtype=torch.float64), torch.zeros(()).double()
    ranked = math.fsum(rank * value for rank, value in enumerate(sorted(values), 1))
    gini = 2 * ranked / (units * total) - (units + 1) / units
    share = torch.tensor([value / total for value in values], dtype=torch.float64)
    return share, torch.tensor(min(max(gini, 0.0), 1.0), dtype=torch.float64)
