"""Spectral diversity: how many directions a set of rows effectively uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from gleanvid.metrics.span import kept_rows
from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor


def effective_rank(rows: Tensor) -> float:
    """exp of the entropy of the normalised singular values of [K, D]; not centred.

    Roy and Vetterli, "The effective rank", EUSIPCO 2007. Between 1 and the rank; 0 without energy.
    Unchanged by rotation and by scale.
    """
    return _dimension(singular_values(rows))


def energy_rank(rows: Tensor) -> float:
    """The same of squared singular values: a few strong directions count for nearly all."""
    return _dimension(singular_values(rows).square())


def centred_energy_rank(rows: Tensor) -> float:
    """:func:`energy_rank` of the rows less their mean, which else is the strongest direction."""
    return energy_rank(rows.double() - rows.double().mean(0)) if len(rows) else 0.0


def _dimension(weights: Tensor) -> float:
    """exp of the entropy of weights >= 0 as shares; 0 where all are zero."""
    share = weights / weights.sum() if bool((weights > 0).any()) else weights[:0]
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


def effective_dimensions(debiased: Tensor, record: Compression) -> tuple[float, float, float]:
    """Effective dimension in three readings, for the paper states no formula.

    By singular values (:func:`effective_rank`), by energy (:func:`energy_rank`), and by energy
    around the mean (:func:`centred_energy_rank`).
    """
    rows = kept_rows(debiased, record)
    return effective_rank(rows), energy_rank(rows), centred_energy_rank(rows)


def effective_rank_by_unit(debiased: Tensor, record: Compression) -> Tensor:
    """float64 [T]: effective rank of the rows kept in each unit; 0 where none is."""
    rows = kept_rows(debiased, record).split(record.budgets.tolist())
    return torch.tensor([effective_rank(block) for block in rows], dtype=torch.float64)
