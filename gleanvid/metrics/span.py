"""The linear span of the kept tokens: how it grows, and what lies outside it.

All metrics use debiased tokens (Eq. debias). Output tokens are those that the language model
receives: kept tokens, or means of merged ones. The energy of a token is its squared norm. Energies
are given as fractions of the token's own energy, in [0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from gleanvid.compressors.gleanvid.basis import GrowingBasis
from gleanvid.compressors.gleanvid.debiasing import remove_directions, top_directions
from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor

_TOLERANCE = 1e-4  # residuals up to this fraction of their unit's largest add no direction
_FLOOR = 1e-5  # residuals up to this fraction of the largest token norm are rounding noise
_CHUNK = 2048  # number of tokens projected at a time


def debiased(features: Tensor, rank: int = 1) -> Tensor:
    """Remove the ``rank`` shared context directions from the tokens of a clip (Eq. debias).

    Args:
        features: tokens [L, D].
        rank: number of directions to remove.

    Returns:
        The debiased tokens, float32 [L, D]. They depend on the clip alone, so compute them once for
        all compression records of a clip.
    """
    rows = features.detach().float()
    mean = rows.mean(0)
    return remove_directions(rows, mean, top_directions(rows, mean, rank))


@dataclass(frozen=True, eq=False)
class Span:
    """The span of the K output tokens of a record, ordered by unit and by index within a unit.

    Attributes:
        across: float64 [K], fraction of a token's energy outside the span of *earlier units*.
        fresh: float64 [K], fraction outside the span of *all tokens before it*. Both are 0 for a
            token of norm 0.
        units: int64 [K], unit of each output token.
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
    """Return the debiased features of the K kept or merged tokens, float32 [K, D]."""
    return record.apply(debiased.float())


def kept_span(debiased: Tensor, record: Compression) -> Span:
    """Compute the span of the output tokens, unit by unit.

    A token adds a direction to the basis under the same conditions as in GleanVID's own selection
    (Eq. qr_filter, and a floor for rounding errors). This takes no more memory than the features.

    Args:
        debiased: tokens [L, D], see :func:`debiased`.
        record: compression record: which tokens were kept or merged.
    """
    rows = kept_rows(debiased, record)
    scale = float(torch.linalg.vector_norm(debiased, dim=1).max())
    units = torch.div(record.keep, record.grid[1] * record.grid[2], rounding_mode="floor")
    across, fresh, ranks, basis = _grown(rows, record.budgets.tolist(), scale)
    return Span(across, fresh, units.cpu(), ranks, basis)


def _grown(
    rows: Tensor, blocks: Sequence[int], scale: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Add K tokens, ``rows`` [K, D], to an empty span, block by block.

    ``blocks``: number of tokens in each block. Returns the fractions of each token's energy outside
    the span of earlier blocks [K], and outside that of all tokens before it [K]. Also returns the
    rank after each block, and the basis [q, D].
    """
    basis = GrowingBasis(rows, len(rows), max(blocks), _TOLERANCE, max(_FLOOR * scale, 1e-30))
    across, fresh = [], []
    for block in rows.split([size for size in blocks if size]):
        # subtracted twice, to remove the rounding errors of the first time
        residual = basis.remove_from(basis.remove_from(block.clone()))
        across.append(residual.double().square().sum(1))
        fresh.append(basis.add(residual).square())
    energy = rows.double().square().sum(1)
    share = torch.where(energy > 0, 1.0 / energy, 0.0)
    old, new = ((torch.cat(part) * share).clamp(max=1.0).cpu() for part in (across, fresh))
    return old, new, basis.ranks(blocks).cpu(), basis.vectors()


def residual_energy(debiased: Tensor, record: Compression, span: Span | None = None) -> float:
    """Return the cross-frame residual energy: how new output tokens are to earlier units.

    Args:
        debiased: tokens [L, D].
        record: compression record: which tokens were kept or merged.
        span: result of :func:`kept_span`, if already computed.

    Returns:
        The fraction of an output token's energy outside the span of all earlier units' output
        tokens, averaged over the output tokens.
    """
    return float((span or kept_span(debiased, record)).across.mean())


def later_residual_energy(debiased: Tensor, record: Compression, span: Span | None = None) -> float:
    """Return :func:`residual_energy` without the first unit that keeps tokens.

    All tokens of that unit count as new, so a mean with them mostly measures how many they are.
    The result is 0 if no other unit keeps tokens. The arguments are those of
    :func:`residual_energy`.
    """
    span = span or kept_span(debiased, record)
    later = span.across[span.units > span.units[0]]
    return float(later.mean()) if len(later) else 0.0


def residual_energy_by_unit(
    debiased: Tensor, record: Compression, span: Span | None = None
) -> Tensor:
    """Return :func:`residual_energy` averaged within each unit, float64 [T].

    It is NaN for a unit without output tokens. The arguments are those of :func:`residual_energy`.
    """
    span = span or kept_span(debiased, record)
    total = torch.zeros(record.grid[0], dtype=torch.float64)
    total.index_add_(0, span.units, span.across)
    return total / record.budgets.cpu()


def energy_outside_span(debiased: Tensor, record: Compression, span: Span | None = None) -> float:
    """Return the mean energy of output tokens outside the span of *all output tokens before*.

    "Before" means in an earlier unit, or at a lower index of the same unit, whatever the order in
    which the method chose them. The arguments are those of :func:`residual_energy`.
    """
    return float((span or kept_span(debiased, record)).fresh.mean())


def basis_rank(debiased: Tensor, record: Compression, span: Span | None = None) -> Tensor:
    """Return the dimension of the span of all output tokens up to each unit, int64 [T].

    ``span``: computed before for this record; None computes it.
    """
    return (span or kept_span(debiased, record)).rank


def coverage_error(debiased: Tensor, record: Compression, span: Span | None = None) -> float:
    """Return how much of the dropped tokens lies outside the span of the output tokens.

    Args:
        debiased: tokens [L, D].
        record: compression record: which tokens were kept or merged.
        span: result of :func:`kept_span`, if already computed.

    Returns:
        The fraction of a dropped token's energy outside that span, averaged over the dropped
        tokens; 0 if nothing is dropped. A token merged into another one counts as dropped, unless
        the output token has its position. Tokens of norm 0 are left out.
    """
    errors = coverage_errors(debiased, record, span)
    counted = errors[~torch.isnan(errors)]
    return float(counted.mean()) if len(counted) else 0.0


def coverage_errors(debiased: Tensor, record: Compression, span: Span | None = None) -> Tensor:
    """Return the fraction of each dropped token's energy outside the span of the output tokens.

    Returns:
        The fractions, float64 [L], for example for a heat map of what is lost. NaN for kept tokens
        and for tokens of norm 0.
    """
    basis = (span or kept_span(debiased, record)).directions
    errors = torch.full((len(debiased),), float("nan"), dtype=torch.float64)
    for places in torch.nonzero(~record.mask).squeeze(1).split(_CHUNK):
        rows = debiased[places].float()
        energy = rows.double().square().sum(1)
        explained = (rows @ basis.T).double().square().sum(1)
        errors[places.cpu()] = (1.0 - explained / energy).clamp(min=0).cpu()  # 0 / 0 is NaN
    return errors
