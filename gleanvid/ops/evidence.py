"""The part of each unit's tokens that the tokens kept before do not explain.

Letters: T units, N tokens of a unit, D width, r shared directions, k tokens kept of a unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol

import torch

from gleanvid.ops.orthogonal import GrowingBasis

if TYPE_CHECKING:
    from torch import Tensor

_GROUPS = 4  # the part of a clip, one in so many, whose tokens are held at once
_FLOOR = 1e-5  # of the largest norm: below this a direction is rounding noise


@dataclass(frozen=True, eq=False)
class DebiasedClip:
    """Debiased tokens (Eq. debias) of ``features`` [T, N, D], computed when asked for.

    ``directions`` [r, D] are orthonormal; what is removed is each token's part along them, counted
    from the clip's ``mean`` [D]. A debiased copy of all features is never held.
    """

    features: Tensor
    mean: Tensor
    directions: Tensor
    coordinates: Tensor  # [T, N, r] of the centred tokens
    norms: Tensor  # [T, N] of the features
    scale: float  # the largest norm of a debiased token

    @classmethod
    def of(cls, features: Tensor, mean: Tensor, directions: Tensor) -> DebiasedClip:
        shared = directions @ mean
        coordinates = features @ directions.T - shared
        norms = torch.linalg.vector_norm(features, dim=-1)
        along = coordinates.double()
        squares = norms.double().square() - (along * (along + 2 * shared)).sum(-1)
        scale = float(squares.max().clamp(min=0).sqrt())
        return cls(features, mean, directions, coordinates, norms, scale)

    def unit(self, unit: int) -> Tensor:
        """The debiased tokens [N, D] of one unit, a tensor of its own."""
        return torch.addmm(self.features[unit], self.coordinates[unit], self.directions, alpha=-1.0)

    def write(self, units: range, out: Tensor) -> None:
        """The debiased tokens of neighbouring units into ``out`` [units * N, D]."""
        own = slice(units.start, units.stop)
        rows, along = self.features[own].flatten(0, 1), self.coordinates[own].flatten(0, 1)
        torch.addmm(rows, along, self.directions, alpha=-1.0, out=out)


class Evidence(Protocol):
    """What the selection asks of the evidence kept so far (Algorithm 2)."""

    scale: float  # the largest value that ``complement`` can have; 0: unknown

    def complement(self, unit: int) -> Tensor:
        """What every token [N] of a unit would add."""

    def absorb(self, chosen: Tensor) -> None:
        """Keep the tokens int64 [k] of the unit that :meth:`complement` was last asked for."""

    def ranks(self, budgets: Sequence[int]) -> Tensor:
        """int64 [T]: dimensions explained after every unit, whose budgets these were."""


class SubspaceEvidence:
    """Residuals outside the span of all tokens kept so far (Eq. scr).

    What the first unit's tokens explain is taken off the other tokens themselves: it holds the
    large mean that all share, and an energy that is lowered by it loses most digits. What later
    units explain lowers energies alone (Eq. incremental_scs); only kept tokens are projected.
    """

    def __init__(self, clip: DebiasedClip, budgets: Sequence[int], tolerance: float) -> None:
        self.scale = clip.scale
        rows, floor = (sum(budgets), max(budgets)), max(_FLOOR * clip.scale, 1e-30)
        self._basis = GrowingBasis(clip.features, *rows, tolerance, floor)
        self._clip, self._first = clip, 0  # rows of the basis that the first unit gave
        self._group = _Group(clip, range(1), self._basis, 0)
        self._unit = 0

    def complement(self, unit: int) -> Tensor:
        basis, is_first = self._basis, not self._first
        if unit not in self._group.units or basis.moved or (is_first and basis.used):
            count = len(self._clip.features)
            units = range(unit, min(unit + -(-count // _GROUPS), count))
            self._first, basis.moved = self._first or basis.used, False
            del self._group  # its memory is free before the next one takes as much
            self._group = _Group(self._clip, units, basis, self._first)
        self._unit = unit
        return self._group.energies(unit).clamp(min=0).sqrt()

    def absorb(self, chosen: Tensor) -> None:
        self._basis.absorb(self._group.residuals(self._unit, chosen))

    def ranks(self, budgets: Sequence[int]) -> Tensor:
        accepted = ~torch.cat(self._basis.rejected)
        total = torch.nn.functional.pad(accepted.cumsum(0), (1, 0))
        after = torch.tensor([*accumulate(budgets)], device=total.device)
        return total[after].clamp(max=self._basis.width)


class _Group:
    """Tokens of a few units without what the ``first`` rows of a growing basis explain.

    Behind each token stand its coordinates along the other rows, as far as these were seen.
    """

    def __init__(self, clip: DebiasedClip, units: range, basis: GrowingBasis, first: int) -> None:
        _, self._per_unit, width = clip.features.shape
        self.units, self._basis, self._first, self._seen = units, basis, first, first
        self._held = clip.features.new_empty(len(units) * self._per_unit, width + basis.capacity)
        self._tokens, self._along = self._held.split([width, basis.capacity], 1)
        clip.write(units, self._tokens)
        basis.remove_from(self._tokens, first)
        self._energies = torch.linalg.vector_norm(self._tokens, dim=1).square()[:, None, None]
        self._lower(slice(None))
        self._seen = basis.used

    def _own(self, unit: int) -> slice:
        start = (unit - self.units.start) * self._per_unit
        return slice(start, start + self._per_unit)

    def _lower(self, own: slice) -> None:
        """Of these rows: coordinates along what the group has not seen, and energies without."""
        along = self._along[own, self._seen : self._basis.used]
        if along.shape[1]:
            torch.mm(self._tokens[own], self._basis.rows(self._seen).T, out=along)
            self._energies[own].baddbmm_(along[:, None], along[:, :, None], alpha=-1.0)

    def energies(self, unit: int) -> Tensor:
        """Squared residuals [N], less than zero by rounding; to be asked for once."""
        own = self._own(unit)
        self._lower(own)
        return self._energies[own, 0, 0]

    def residuals(self, unit: int, chosen: Tensor) -> Tensor:
        """What the basis leaves of the ``chosen`` tokens int64 [k] of a unit: [k, D]."""
        basis = self._basis.rows(self._first)
        rows = self._held[self._own(unit)][chosen]
        tokens, along = rows[:, : basis.shape[1]], rows[:, basis.shape[1] + self._first :]
        return torch.addmm(tokens, along[:, : len(basis)], basis, alpha=-1.0)
