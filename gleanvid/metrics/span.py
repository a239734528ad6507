"""What the kept rows span, as it grows unit by unit, and the energy each row adds to it.

Rows are debiased tokens; for methods that merge, the merged rows that the language model receives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor

_TOLERANCE = 1e-4  # a direction this much smaller than its unit's largest is explained already
_FLOOR = 1e-5  # of the largest norm: below this a direction is rounding noise
_RIDGE = (0.1 * _FLOOR) ** 2  # keeps the Cholesky factor of repeated rows finite


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
