"""What the kept tokens leave unexplained of every other token (Algorithm 2, lines 3, 9 and 15-21).

Letters: T units, N tokens of a unit, D width, k tokens kept of a unit, q rows of a basis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import torch

from gleanvid.ops.basis import GrowingBasis
from gleanvid.ops.debiasing import DebiasedClip

if TYPE_CHECKING:
    from torch import Tensor

_GROUPS = 4  # the tokens of a quarter of the units are held at once
_FLOOR = 1e-5  # of the largest norm: below this a direction is rounding noise


class Evidence(Protocol):
    """The evidence in the tokens kept so far, unit by unit (Algorithm 2)."""

    scale: float  # the largest value that ``complement`` can have; 0: unknown

    def complement(self, unit: int) -> Tensor:
        """What every token [N] of a unit would add: v_{t,n}."""

    def absorb(self, chosen: Tensor) -> None:
        """Keep tokens int64 [k] of the unit that :meth:`complement` was last asked for."""

    def ranks(self, budgets: Sequence[int]) -> Tensor:
        """int64 [T]: dimensions explained after every unit, whose budgets these were."""


class SubspaceEvidence:
    """Norms of the residuals outside the span of all tokens kept so far (Eq. scr).

    The tokens of a group of neighbouring units are held at once. The span of the first unit's kept
    tokens is removed from the tokens themselves: it holds the large mean that all tokens share, and
    an energy that is lowered by it loses most digits. Later directions only lower the energies
    (Eq. incremental_scs), by the coordinates of the tokens along them; only kept tokens are
    projected.
    """

    def __init__(self, clip: DebiasedClip, budgets: Sequence[int], tolerance: float) -> None:
        units, self._per_unit, width = clip.features.shape
        floor = max(_FLOOR * clip.scale, 1e-30)
        self.scale, self._clip = clip.scale, clip
        self._basis = GrowingBasis(clip.features, sum(budgets), max(budgets), tolerance, floor)
        self._pending: Tensor | None = None  # directions; those of the last unit are not needed
        self._most = -(-units // _GROUPS)
        self._tokens = clip.features.new_empty(self._most * self._per_unit, width)
        self._along = clip.features.new_empty(self._basis.capacity, len(self._tokens))  # [q, n]
        self._units, self._version = range(0), 0  # held, and the version of the basis they are for
        self._own = slice(0)  # places of the current unit among the tokens held

    def complement(self, unit: int) -> Tensor:
        if self._pending is not None:
            self._basis.extend(self._pending)
            self._pending = None
        if unit not in self._units or self._version != self._basis.version:
            self._hold(unit)
        start = (unit - self._units.start) * self._per_unit
        self._own = slice(start, start + self._per_unit)
        along = self._coordinates(self._own, self._seen)
        return _lowered(self._energies[self._own], along).clamp(min=0).sqrt()

    def absorb(self, chosen: Tensor) -> None:
        basis = self._basis.rows(self._basis.first)
        tokens = self._tokens[self._own][chosen]
        if len(basis):
            along = self._along[self._basis.first : self._basis.used, self._own]
            tokens.addmm_(along.T[chosen], basis, alpha=-1.0)
        self._pending = self._basis.directions(tokens)

    def ranks(self, budgets: Sequence[int]) -> Tensor:
        return self._basis.ranks(budgets)

    def _hold(self, unit: int) -> None:
        """Hold this unit and those after it; this one alone as long as nothing is kept."""
        basis, count = self._basis, len(self._clip.features)
        self._units = range(unit, min(unit + self._most, count) if basis.used else unit + 1)
        self._version = basis.version
        tokens = self._tokens[: len(self._units) * self._per_unit]
        self._clip.write(self._units, tokens)
        basis.remove_from(tokens, basis.first)
        energies = torch.linalg.vector_norm(tokens, dim=1).square()
        self._energies = _lowered(energies, self._coordinates(slice(len(tokens)), basis.first))
        self._seen = basis.used  # rows of the basis that the energies are lowered by

    def _coordinates(self, own: slice, start: int) -> Tensor:
        """Coordinates [q, n] of the tokens ``own`` along the rows of the basis from ``start`` on.

        A row for every row of the basis: the products are slower the other way round.
        """
        rows, along = self._basis.rows(start), self._along[start : self._basis.used, own]
        return torch.mm(rows, self._tokens[own].T, out=along) if len(rows) else along


def _lowered(energies: Tensor, along: Tensor) -> Tensor:
    """Energies [n] less the squares of the coordinates [q, n]."""
    if not len(along):
        return energies
    columns = along.T[:, :, None]
    return torch.baddbmm(energies[:, None, None], columns.mT, columns, alpha=-1.0)[:, 0, 0]
