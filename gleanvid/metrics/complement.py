"""Complementarity: what each kept row adds to those before it. Shares of energy, in [0, 1]."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from gleanvid.metrics.span import Span, kept_span
from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor


def residual_energy(debiased: Tensor, record: Compression, span: Span | None = None) -> float:
    """Cross-frame residual energy: mean over kept rows of the share outside all *earlier units*.

    ``debiased`` [L, D]; ``span`` saves the work where :func:`kept_span` was taken already.
    """
    return float((span or kept_span(debiased, record)).across.mean())


def later_residual_energy(debiased: Tensor, record: Compression, span: Span | None = None) -> float:
    """The same mean without the first unit that keeps anything, to which all is new.

    With it, the mean says how large that unit's budget is before it says anything else. 0 where
    only one unit keeps anything.
    """
    span = span or kept_span(debiased, record)
    later = span.across[span.units > span.units[0]]
    return float(later.mean()) if len(later) else 0.0


def residual_energy_by_unit(
    debiased: Tensor, record: Compression, span: Span | None = None
) -> Tensor:
    """float64 [T]: the same mean within each unit; NaN where a unit keeps nothing."""
    span = span or kept_span(debiased, record)
    total = torch.zeros(record.grid[0], dtype=torch.float64)
    total.index_add_(0, span.units, span.across)
    return total / record.budgets.cpu()


def energy_outside_span(debiased: Tensor, record: Compression, span: Span | None = None) -> float:
    """Mean over kept rows of the share of energy outside the span of *all earlier picks*.

    Earlier means an earlier unit, or a lower index in the same unit: a record does not hold the
    order in which a method picked within a unit.
    """
    return float((span or kept_span(debiased, record)).fresh.mean())


def basis_rank(debiased: Tensor, record: Compression, span: Span | None = None) -> Tensor:
    """int64 [T]: dimension of the span of what was kept up to and including each unit."""
    return (span or kept_span(debiased, record)).rank
