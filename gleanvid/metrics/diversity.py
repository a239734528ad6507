"""Spectral diversity: how many directions a set of token features effectively spans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from gleanvid.metrics.span import kept_rows
from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor


def effective_rank(rows: Tensor) -> float:
    """Return the effective rank of a matrix (Roy and Vetterli, EUSIPCO 2007).

    It is the exponential of the entropy of the singular values, normalised to sum 1.

    Args:
        rows: [K, D], features of K tokens; they are not centred.

    Returns:
        A number between 1 and the rank, 0 if all values are 0. Invariant to rotation and scale.
    """
    return _dimension(singular_values(rows))


def _dimension(weights: Tensor) -> float:
    """Scale weights >= 0 to sum 1 and return the exponential of their entropy; 0 if all are 0."""
    share = weights / weights.sum() if bool((weights > 0).any()) else weights[:0]
    return float(torch.special.entr(share).sum().exp()) if len(share) else 0.0


def singular_values(rows: Tensor) -> Tensor:
    """Return the singular values of a matrix [K, D], descending, float64 [min(K, D)].

    They are computed from the smaller one of its two Gram matrices.
    """
    rows = rows.double()
    gram = rows @ rows.T if rows.shape[0] <= rows.shape[1] else rows.T @ rows
    energies = torch.linalg.eigvalsh(gram).flip(0).clamp(min=0)
    noise = 1e-14 * energies[:1]  # rounding error of the Gram matrix
    return torch.where(energies > noise, energies, 0.0).sqrt()


def effective_dimension(debiased: Tensor, record: Compression) -> float:
    """Return the effective rank of the kept tokens (Fig. 1(c)).

    Args:
        debiased: tokens [L, D], see :func:`gleanvid.metrics.debiased`.
        record: compression record: which tokens were kept or merged.
    """
    return effective_rank(kept_rows(debiased, record))


def effective_rank_by_unit(debiased: Tensor, record: Compression) -> Tensor:
    """Return the effective rank of the output tokens of each unit, float64 [T].

    It is 0 for a unit without output tokens.
    """
    rows = kept_rows(debiased, record).split(record.budgets.tolist())
    return torch.tensor([effective_rank(block) for block in rows], dtype=torch.float64)
