"""The part of each unit's tokens that the tokens kept before do not explain.

Letters: T units, N tokens of a unit, D width, r shared directions, k tokens kept of a unit.
"""

from __future__ import annotations

import math
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
        along = torch.addmm(shared, features.flatten(0, 1), directions.T, beta=-1.0)
        coordinates = along.view(*features.shape[:2], -1)
        norms = torch.linalg.vector_norm(features, dim=-1)
        along = coordinates.double()
        squares = norms.double().square() - (along * along.add(shared, alpha=2.0)).sum(-1)
        scale = math.sqrt(max(0.0, float(squares.max())))
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
        self._group, self._unit = _Group(clip, self._basis), 0
        self._latest: Tensor | None = None  # directions; those of the last unit are not needed

    def complement(self, unit: int) -> Tensor:
        group, basis = self._group, self._basis
        if self._latest is not None:
            basis.extend(self._latest)
            self._latest = None
        if unit not in group.units or basis.moved or (basis.used and not group.first):
            group.take(unit)
        self._unit = unit
        return group.complement(unit)

    def absorb(self, chosen: Tensor) -> None:
        self._latest = self._basis.accepted(self._group.residuals(self._unit, chosen))

    def ranks(self, budgets: Sequence[int]) -> Tensor:
        accepted = ~torch.cat(self._basis.rejected)
        total = torch.nn.functional.pad(accepted.cumsum(0), (1, 0))
        after = torch.tensor([*accumulate(budgets)], device=total.device)
        return total[after].clamp(max=self._basis.width)


def left_norms(energies: Tensor, along: Tensor) -> Tensor:
    """Norms [N] of points with these squared norms [N] less their coordinates [q, N]."""
    return _without(energies, along).clamp(min=0).sqrt()


def _without(energies: Tensor, along: Tensor) -> Tensor:
    if not len(along):
        return energies
    columns = along.T[:, :, None]
    return torch.baddbmm(energies[:, None, None], columns.mT, columns, alpha=-1.0)[:, 0, 0]


class _Group:
    """Tokens of a few units without what the ``first`` rows of a growing basis explain.

    Beside them stand their coordinates along the other rows, as far as these were seen: a row for
    every row of the basis, as the products are slower the other way round.
    """

    def __init__(self, clip: DebiasedClip, basis: GrowingBasis) -> None:
        count, self._per_unit, width = clip.features.shape
        self._clip, self._basis, self._most = clip, basis, -(-count // _GROUPS)
        self._tokens = clip.features.new_empty(self._most * self._per_unit, width)
        self._along = clip.features.new_empty(basis.capacity, len(self._tokens))
        self.units, self.first = range(0), 0  # rows that the first unit with a budget gave

    def take(self, unit: int) -> None:
        """Hold this unit and those after it; this one alone as long as nothing is kept."""
        basis, count = self._basis, len(self._clip.features)
        self.units = range(unit, min(unit + self._most, count) if basis.used else unit + 1)
        self.first, basis.moved = self.first or basis.used, False
        tokens = self._tokens[: len(self.units) * self._per_unit]
        self._clip.write(self.units, tokens)
        basis.remove_from(tokens, self.first)
        energies = torch.linalg.vector_norm(tokens, dim=1).square()
        self._seen = self.first
        self._energies = _without(energies, self._coordinates(slice(len(tokens))))
        self._seen = basis.used

    def _own(self, unit: int) -> slice:
        start = (unit - self.units.start) * self._per_unit
        return slice(start, start + self._per_unit)

    def _coordinates(self, own: slice) -> Tensor:
        """Of these tokens along the rows that the group has not seen: [q, n]."""
        rows, along = self._basis.rows(self._seen), self._along[self._seen : self._basis.used, own]
        return torch.mm(rows, self._tokens[own].T, out=along) if len(rows) else along

    def complement(self, unit: int) -> Tensor:
        """What the basis leaves of every token [N] of a unit: the norms."""
        own = self._own(unit)
        return left_norms(self._energies[own], self._coordinates(own))

    def residuals(self, unit: int, chosen: Tensor) -> Tensor:
        """What the basis leaves of the ``chosen`` tokens int64 [k] of a unit: [k, D]."""
        own, basis = self._own(unit), self._basis.rows(self.first)
        along, tokens = self._along[self.first : self._basis.used, own], self._tokens[own][chosen]
        return tokens.addmm_(along.T[chosen], basis, alpha=-1.0) if len(basis) else tokens
