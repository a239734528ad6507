"""The linear span of the kept tokens: its growth, the energy of each token, and what it misses.

All metrics use debiased tokens (Eq. debias). For methods that merge, the kept rows are the merged
ones that the language model receives. Energies are fractions of a row's own energy, in [0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from gleanvid.ops.debiasing import remove_directions, top_directions
from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor

_TOLERANCE = 1e-4  # residuals below this fraction of their unit's largest count as explained
_FLOOR = 1e-5  # directions shorter than this fraction of the largest norm are rounding noise
_RIDGE = (0.1 * _FLOOR) ** 2  # keeps the Cholesky factor of repeated rows finite
_CHUNK = 2048  # rows projected at a time
_BLOCK = 64  # rows that join the basis at a time, in the order in which tokens were picked


def debiased(features: Tensor, rank: int = 1) -> Tensor:
    """Remove the ``rank`` shared context directions from the tokens of a clip (Eq. debias).

    Args:
        features: tokens [L, D].
        rank: number of directions to remove.

    Returns:
        float32 [L, D]. It depends on the clip alone: compute it once for all records of the clip.
    """
    rows = features.detach().float()
    mean = rows.mean(0)
    return remove_directions(rows, mean, top_directions(rows, mean, rank))


@dataclass(frozen=True, eq=False)
class Span:
    """The span of the K kept rows of a record, ordered by unit and by index within a unit.

    Attributes:
        across: float64 [K], fraction of a row's energy outside the span of all *earlier units*.
        fresh: float64 [K], fraction outside the span of *all rows before it*. 0 for a zero row.
        units: int64 [K], unit of each row.
        rank: int64 [T], dimension of the span after each unit.
        directions: float32 [q, D], orthonormal basis, q <= min(K, D), on the features' device; the
            other tensors are on the CPU.
    """

    across: Tensor
    fresh: Tensor
    units: Tensor
    rank: Tensor
    directions: Tensor


def kept_rows(debiased: Tensor, record: Compression) -> Tensor:
    """Return the kept (or merged) rows of the debiased tokens [L, D]: float32 [K, D]."""
    return record.apply(debiased.float())


def kept_span(debiased: Tensor, record: Compression) -> Span:
    """Compute the span of the kept rows, unit by unit.

    A row's direction joins the basis if it passes the tolerances of GleanVID's own selection
    (Eq. qr_filter and the floor of the numerical guards). Takes no more memory than the features.

    Args:
        debiased: tokens [L, D], see :func:`debiased`.
        record: which of them were kept or merged.
    """
    rows = kept_rows(debiased, record)
    scale = float(torch.linalg.vector_norm(debiased, dim=1).max())
    units = torch.div(record.keep, record.grid[1] * record.grid[2], rounding_mode="floor")
    across, fresh, ranks, basis = _grown(rows, record.budgets.tolist(), scale)
    return Span(across, fresh, units.cpu(), ranks, basis)


def _grown(
    rows: Tensor, blocks: Sequence[int], scale: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Add rows [K, D] to a span, block by block.

    Returns the energy fractions [K] outside earlier blocks and outside all rows before, the rank
    after each block, and the basis [q, D].
    """
    basis = rows.new_empty(min(rows.shape), rows.shape[1])
    across, fresh, ranks, used = [], [], [], 0
    for block in rows.split(list(blocks)):
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
    outside, new = ((torch.cat(part) * share).clamp(max=1.0).cpu() for part in (across, fresh))
    return outside, new, torch.tensor(ranks), basis[:used]


def residual_energy(debiased: Tensor, record: Compression, span: Span | None = None) -> float:
    """Return the cross-frame residual energy of the kept rows.

    Args:
        debiased: tokens [L, D].
        record: which of them were kept or merged.
        span: result of :func:`kept_span`, if already computed.

    Returns:
        The mean over kept rows of the energy fraction outside the span of all earlier units.
    """
    return float((span or kept_span(debiased, record)).across.mean())


def later_residual_energy(debiased: Tensor, record: Compression, span: Span | None = None) -> float:
    """Return :func:`residual_energy` without the first non-empty unit; 0 if it is the only one.

    Everything in the first unit is new, so including it mostly measures that unit's budget.
    """
    span = span or kept_span(debiased, record)
    later = span.across[span.units > span.units[0]]
    return float(later.mean()) if len(later) else 0.0


def residual_energy_by_unit(
    debiased: Tensor, record: Compression, span: Span | None = None
) -> Tensor:
    """Return :func:`residual_energy` within each unit, float64 [T]; NaN for an empty unit."""
    span = span or kept_span(debiased, record)
    total = torch.zeros(record.grid[0], dtype=torch.float64)
    total.index_add_(0, span.units, span.across)
    return total / record.budgets.cpu()


def energy_outside_span(debiased: Tensor, record: Compression, span: Span | None = None) -> float:
    """Return the mean energy fraction of kept rows outside the span of *all rows before them*.

    "Before" means in an earlier unit, or at a lower index of the same unit: a record does not
    hold the order in which a method chose tokens within a unit. The arguments are those of
    :func:`residual_energy`.
    """
    return float((span or kept_span(debiased, record)).fresh.mean())


def energy_outside_picked(debiased: Tensor, record: Compression) -> float:
    """Return :func:`energy_outside_span` in the order in which the method picked its tokens.

    Returns:
        The mean energy fraction of kept tokens outside the span of all those picked before them;
        NaN for a method that does not pick one after another (no "order" in ``record.state``).
    """
    order = record.state.get("order")
    if order is None:
        return float("nan")
    scale = float(torch.linalg.vector_norm(debiased, dim=1).max())
    rows = debiased[order.to(debiased.device)].float()
    return float(_grown(rows, [len(part) for part in rows.split(_BLOCK)], scale)[1].mean())


def basis_rank(debiased: Tensor, record: Compression, span: Span | None = None) -> Tensor:
    """Return the dimension of the span of all rows kept up to each unit, int64 [T]."""
    return (span or kept_span(debiased, record)).rank


def coverage_error(debiased: Tensor, record: Compression, span: Span | None = None) -> float:
    """Return how much of the dropped tokens the kept rows cannot explain.

    Args:
        debiased: tokens [L, D].
        record: which of them were kept or merged.
        span: result of :func:`kept_span`, if already computed.

    Returns:
        The mean over dropped tokens of the energy fraction outside the span of all kept rows; 0 if
        nothing is dropped. A token counts as dropped if no kept row has its position, so a token
        merged into another one counts. Tokens without energy are left out.
    """
    errors = coverage_errors(debiased, record, span)
    counted = errors[~torch.isnan(errors)]
    return float(counted.mean()) if len(counted) else 0.0


def coverage_errors(debiased: Tensor, record: Compression, span: Span | None = None) -> Tensor:
    """Return the unexplained energy fraction of every dropped token, for heat maps of what is lost.

    Returns:
        float64 [L], NaN for kept tokens and tokens without energy.
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
    """Return rows [k, D] minus their projection on an orthonormal basis [q, D], projected twice."""
    for _ in range(2 if len(basis) else 0):
        rows = torch.addmm(rows, rows @ basis.T, basis, alpha=-1.0)
    return rows


def _pivots(residual: Tensor, scale: float) -> Tensor:
    """Return the distance [k] of each row, float64 [k, D], from the span of the rows before it.

    Distances that are only rounding errors, by ``scale``, are 0.
    """
    ridge = _RIDGE * scale**2 or 1.0
    gram = residual @ residual.T
    gram.diagonal().add_(ridge)
    factor = torch.linalg.cholesky_ex(gram).L
    return (factor.diagonal().square() - ridge).clamp(min=0).sqrt()
