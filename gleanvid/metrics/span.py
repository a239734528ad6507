"""The span of the kept tokens: its growth over the units, the energy each adds, what it misses.

All is measured on debiased tokens (Eq. debias); for methods that merge, on the merged rows that the
language model receives. Energies are fractions in [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from gleanvid.ops.debiasing import remove_directions, top_directions
from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor

_TOLERANCE = 1e-4  # a direction this much smaller than its unit's largest is explained already
_FLOOR = 1e-5  # of the largest norm: below this a direction is rounding noise
_RIDGE = (0.1 * _FLOOR) ** 2  # keeps the Cholesky factor of repeated rows finite
_CHUNK = 2048  # rows projected at a time


def debiased(features: Tensor, rank: int = 1) -> Tensor:
    """Tokens without their ``rank`` shared context directions: [L, D] -> float32 [L, D].

    Depends on the clip alone: compute it once and measure every record of the clip with it.
    """
    rows = features.detach().float()
    mean = rows.mean(0)
    return remove_directions(rows, mean, top_directions(rows, mean, rank))


@dataclass(frozen=True, eq=False)
class Span:
    """The span of the K kept rows of a record, in order of time and of index within a unit.

    ``across`` float64 [K]: share of a row's energy outside the span of the rows of *earlier
    units*; ``fresh`` float64 [K]: outside the span of *all rows before it*; zero rows have share
    0. ``units`` int64 [K]; ``rank`` int64 [T] after each unit; ``directions`` float32 [q, D],
    orthonormal, q <= min(K, D), on the features' device; all others on the CPU.
    """

    across: Tensor
    fresh: Tensor
    units: Tensor
    rank: Tensor
    directions: Tensor


def kept_rows(debiased: Tensor, record: Compression) -> Tensor:
    """float32 [K, D]: what the language model receives of the debiased tokens [L, D]."""
    return record.apply(debiased.float())


def kept_span(debiased: Tensor, record: Compression) -> Span:
    """Grow the span of the kept rows over the units; memory stays within that of the features.

    ``debiased`` [L, D]. A row's direction joins the basis where it passes the tolerances of
    GleanVID's own selection (Eq. qr_filter and the floor of the numerical guards).
    """
    rows = kept_rows(debiased, record)
    scale = float(torch.linalg.vector_norm(debiased, dim=1).max())
    units = torch.div(record.keep, record.grid[1] * record.grid[2], rounding_mode="floor")
    basis = rows.new_empty(min(rows.shape), rows.shape[1])
    across, fresh, ranks, used = [], [], [], 0
    for block in rows.split(record.budgets.tolist()):
        residual = _outside(block, basis[:used]).double()
        sizes = _pivots(residual, scale)
        across.append(residual.square().sum(1))
        fresh.append(sizes.square())
        largest = max(sizes.tolist(), default=0.0)
        valid = sizes > max(_FLOOR * scale, _TOLERANCE * largest)
        found = torch.linalg.qr(residual[valid].T).Q.T[: len(basis) - used]
        basis[used : used + len(found)] = found
        used += len(found)
        ranks.append(used)
    energy = rows.double().square().sum(1)
    share = torch.where(energy > 0, 1.0 / energy, 0.0)
    return Span(
        (torch.cat(across) * share).clamp(max=1.0).cpu(),
        (torch.cat(fresh) * share).clamp(max=1.0).cpu(),
        units.cpu(),
        torch.tensor(ranks),
        basis[:used],
    )


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


def coverage_error(debiased: Tensor, record: Compression, span: Span | None = None) -> float:
    """Mean over dropped tokens of the share of their energy outside the span of all kept rows.

    ``debiased`` [L, D]. Dropped is every token at whose place no kept row stands, also one that
    was merged into another. 0 where nothing is dropped; tokens without energy are left out.
    """
    errors = coverage_errors(debiased, record, span)
    counted = errors[~torch.isnan(errors)]
    return float(counted.mean()) if len(counted) else 0.0


def coverage_errors(debiased: Tensor, record: Compression, span: Span | None = None) -> Tensor:
    """float64 [L]: the unexplained share of every dropped token; NaN where kept or without energy.

    For heat maps of what a method lost.
    """
    basis = (span or kept_span(debiased, record)).directions
    errors = torch.full((len(debiased),), float("nan"), dtype=torch.float64)
    for places in torch.nonzero(~record.mask).squeeze(1).split(_CHUNK):
        rows = debiased[places].float()
        energy = rows.double().square().sum(1)
        explained = (rows @ basis.T).double().square().sum(1)
        errors[places.cpu()] = (1.0 - explained / energy).clamp(min=0).cpu()  # 0 / 0 is NaN
    return errors


def _outside(rows: Tensor, basis: Tensor) -> Tensor:
    """Residual of rows [k, D] against an orthonormal basis [q, D]; twice is enough."""
    for _ in range(2 if len(basis) else 0):
        rows = torch.addmm(rows, rows @ basis.T, basis, alpha=-1.0)
    return rows


def _pivots(residual: Tensor, scale: float) -> Tensor:
    """Norm of what each row float64 [k, D] adds to the rows before it, noise as zero: [k]."""
    ridge = _RIDGE * scale**2 or 1.0
    gram = residual @ residual.T
    gram.diagonal().add_(ridge)
    factor = torch.linalg.cholesky_ex(gram).L
    return (factor.diagonal().square() - ridge).clamp(min=0).sqrt()
