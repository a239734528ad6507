"""Residuals of tokens outside the span of the kept tokens (Algorithm 2, lines 3, 9 and 15-21).

Letters: T units, N tokens of a unit, k tokens kept of a unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import torch

from gleanvid.compressors.gleanvid.basis import GrowingBasis
from gleanvid.compressors.gleanvid.debiasing import DebiasedClip
from gleanvid.compressors.gleanvid.select import saturated

if TYPE_CHECKING:
    from torch import Tensor

_FLOOR = 1e-5  # directions shorter than this fraction of the largest norm are rounding noise


class Evidence(Protocol):
    """Measures how much each token of a unit would add to the tokens kept so far (Algorithm 2).

    Units are passed in order: :meth:`complement`, then :meth:`absorb` with the tokens kept of it.
    """

    scale: float  # largest value that ``complement`` can return; 0 if it is not known

    def complement(self, unit: int) -> Tensor:
        """Return the complementarity v_{t,n} of every token [N] of a unit."""

    def absorb(self, chosen: Tensor) -> None:
        """Add kept tokens: positions ``chosen`` int64 [k] in the unit last given to ``complement``.

        The next call of :meth:`complement` takes them into account.
        """

    def trace(self, budgets: Sequence[int], complement: Tensor) -> dict[str, Tensor]:
        """Return entries [T] of the record's trace.

        ``basis_rank``: dimension of the kept tokens' span after every unit. ``saturated``: whether
        a unit has nothing new. ``budgets`` [T]: number of tokens kept of each unit. ``complement``
        [T, N]: complementarity of all tokens.
        """


class SubspaceEvidence:
    """Complementarity as the norm of the residual outside the span of the kept tokens (Eq. scr).

    When a unit is reached, the residual vectors of its tokens are computed, and then their norms.
    Subtracting squared coordinates from the squared norms of the tokens instead
    (Eq. incremental_scs) would lose half of the digits. A token that repeats a kept one would then
    seem to add sqrt(eps) of its norm. In a still clip, that is more than other tokens really add.
    """

    def __init__(self, clip: DebiasedClip, budgets: Sequence[int], tolerance: float) -> None:
        floor = max(_FLOOR * clip.scale, 1e-30)
        self.scale, self._clip = clip.scale, clip
        self._basis = GrowingBasis(clip.features, sum(budgets), max(budgets), tolerance, floor)
        self._pending: Tensor | None = None  # directions to add to the basis before the next unit

    def complement(self, unit: int) -> Tensor:
        if self._pending is not None:
            self._basis.extend(self._pending)
            self._pending = None
        if self._basis.is_full:
            return self._clip.norms.new_zeros(self._clip.norms.shape[1])
        self._residuals = self._basis.remove_from(self._clip.unit(unit))
        return torch.linalg.vector_norm(self._residuals, dim=1)

    def absorb(self, chosen: Tensor) -> None:
        if self._basis.is_full:
            self._basis.reject(len(chosen))
            return
        self._pending = self._basis.directions(self._residuals[chosen])

    def trace(self, budgets: Sequence[int], complement: Tensor) -> dict[str, Tensor]:
        flags = saturated(complement, self.scale)
        return {"basis_rank": self._basis.ranks(budgets), "saturated": flags}
