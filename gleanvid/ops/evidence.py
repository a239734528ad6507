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

    A unit is projected when it is reached, once, and its residuals are what energies are taken
    from: Eq. incremental_scs subtracts from squared norms instead, and loses most digits wherever
    the tokens share a large mean.
    """

    def __init__(self, clip: DebiasedClip, budgets: Sequence[int], tolerance: float) -> None:
        self.scale = clip.scale
        rows, floor = (sum(budgets), max(budgets)), max(_FLOOR * clip.scale, 1e-30)
        self._basis = GrowingBasis(clip.features, *rows, tolerance, floor)
        self._clip, self._residual = clip, clip.features[:0]

    def complement(self, unit: int) -> Tensor:
        self._residual = self._basis.remove_from(self._clip.unit(unit))
        return torch.linalg.vector_norm(self._residual, dim=1)

    def absorb(self, chosen: Tensor) -> None:
        self._basis.absorb(self._residual[chosen])

    def ranks(self, budgets: Sequence[int]) -> Tensor:
        accepted = ~torch.cat(self._basis.rejected)
        total = torch.nn.functional.pad(accepted.cumsum(0), (1, 0))
        after = torch.tensor([*accumulate(budgets)], device=total.device)
        return total[after].clamp(max=self._basis.width)
