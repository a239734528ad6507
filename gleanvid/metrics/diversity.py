"""Spectral diversity: how many directions a set of token features effectively spans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from gleanvid.compressors.shared.threads import on_one_thread
from gleanvid.metrics.span import kept_rows
from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor

PROJECTED = 96  # number of random directions on which ranks of growing sets are measured


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
    """Return the effective rank of all kept tokens of a clip (the paper's Fig. 1(c)).

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


def projected(debiased: Tensor) -> Tensor:
    """Project tokens [L, D] on 96 random orthonormal directions if D > 96; float64 on the CPU."""
    width = debiased.shape[1]
    if width <= PROJECTED:
        return debiased.double().cpu()
    drawn = torch.randn(width, PROJECTED, generator=torch.Generator().manual_seed(0))
    return (debiased @ torch.linalg.qr(drawn).Q.to(debiased)).double().cpu()


def effective_rank_so_far(debiased: Tensor, record: Compression) -> Tensor:
    """Return for each unit the effective rank of all output tokens up to its end, float64 [T].

    It is measured on at most 96 random directions (:func:`projected`). This takes one small
    eigenvalue problem per unit, which is fast enough for a slider.
    """
    rows = record.apply(projected(debiased))  # [K, up to 96]
    budgets, width = record.budgets.tolist(), rows.shape[1]

    def measure() -> Tensor:
        grams = torch.stack([block.T @ block for block in rows.split(budgets)])
        # Of each unit, the singular values of all output tokens up to its end: [T, up to 96].
        values = torch.linalg.eigvalsh(grams.cumsum(0)).clamp(min=0).sqrt()
        share = values / values.sum(1, keepdim=True).clamp(min=1e-300)
        return torch.special.entr(share).sum(1).exp()

    operations = 2.0 * len(rows) * width**2 + 9.0 * len(budgets) * width**3
    return on_one_thread(measure, operations, rows.device)
