"""Spectral diversity: how many directions a set of rows effectively uses."""

from __future__ import annotations

import torch
from torch import Tensor

from gleanvid.metrics.span import kept_rows
from gleanvid.types import Compression


def effective_rank(rows: Tensor) -> float:
    """exp of the entropy of the normalised singular values of [K, D]; not centred.

    Roy and Vetterli, "The effective rank", EUSIPCO 2007. Between 1 and the rank; 0 without energy.
    Unchanged by rotation and by scale.
    """
    values = singular_values(rows)
    share = values / values.sum() if bool((values > 0).any()) else values[:0]
    return float(torch.special.entr(share).sum().exp()) if len(share) else 0.0


def singular_values(rows: Tensor) -> Tensor:
    """float64 [min(K, D)], descending, by the Gram matrix of the smaller side."""
    rows = rows.double()
    gram = rows @ rows.T if rows.shape[0] <= rows.shape[1] else rows.T @ rows
    energies = torch.linalg.eigvalsh(gram).flip(0).clamp(min=0)
    noise = 1e-14 * energies[:1]  # of the Gram matrix's own rounding
    return torch.where(energies > noise, energies, 0.0).sqrt()


def effective_dimension(debiased: Tensor, record: Compression) -> float:
    """Effective rank of what a record keeps of the debiased tokens [L, D] (Fig. 1(c))."""
    return effective_rank(kept_rows(debiased, record))


def effective_rank_by_unit(debiased: Tensor, record: Compression) -> Tensor:
    """float64 [T]: effective rank of the rows kept in each unit; 0 where none is."""
    rows = kept_rows(debiased, record).split(record.budgets.tolist())
    return torch.tensor([effective_rank(block) for block in rows], dtype=torch.float64)
