"""Scores of the tokens of a unit, and which tokens to keep (Algorithm 2, lines 5-13).

Letters: T units, N tokens of a unit, C pooling cells, D width.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

_SATURATED = 1e-3  # relative to the largest norm; below this a unit is saturated
_CONSTANT = 1e-6  # a spread up to this is rounding (of complements: relative to the largest norm)
_TIED = 1e-4  # joint scores this close to the last chosen one count as ties
_TINY = 1e-30  # makes the cosine with a zero vector zero


def local_scores(
    features: Tensor, norms: Tensor, references: Tensor, cell: Tensor, tau: float
) -> Tensor:
    """Return the local representativeness u (Eq. ncd) of raw features [T, N, D]: float64 [T, N].

    ``norms`` [T, N]: norms of the features; ``references`` [T, C + 1, D]: means of the cells, then
    of the unit; ``cell`` int64 [N]: cell of each position; ``tau``: sharpness of the score.
    """
    wide = references.double()
    wide /= torch.linalg.vector_norm(wide, dim=-1, keepdim=True).clamp(min=_TINY)
    # Subtract the means, not the cosines, which are near 1: their difference would lose digits.
    away = wide[:, :-1].sub_(wide[:, -1:]).to(features.dtype)
    inner = torch.bmm(features, away.mT).gather(2, cell.expand(len(norms), -1)[..., None])[..., 0]
    return torch.nn.functional.softplus((inner / norms.clamp(min=_TINY)).double(), beta=tau)


def min_max(score: Tensor) -> Tensor:
    """Scale the last axis to [0, 1]; zeros where its values differ by rounding alone."""
    low, high = torch.aminmax(score, dim=-1, keepdim=True)
    return (score - low) / torch.nn.functional.threshold(high - low, _CONSTANT, math.inf)


def joint_score(local: Tensor, complement: Tensor, scale: float) -> Tensor:
    """Return local scores plus complements scaled to [0, 1] in every unit, [..., N].

    This is Eq. joint_score; local scores are in [0, 1] already. Complements count as 0 in a
    saturated unit and in one where they differ by rounding alone. ``scale``: largest norm of a
    token.
    """
    low, spread = _spread(complement, scale)
    return torch.addcdiv(local, complement - low, spread)


def choose(local: Tensor, complement: Tensor, scale: float, count: int) -> Tensor:
    """Return the ``count`` tokens of a unit with the highest joint score, best first: int64.

    Scores within 1e-4 of the last one kept are tied with it, and ties go to the lower index, so
    that rounding errors decide nothing between equal tokens.
    """
    # joint_score less a constant, which does not change the order
    score = torch.addcdiv(local, complement, _spread(complement, scale)[1])
    last = score.kthvalue(len(score) - count + 1).values
    difference = torch.nn.functional.hardshrink(score - last, _TIED)
    return torch.sort(difference, descending=True, stable=True).indices[:count]


def saturated(highest: Tensor, scale: float) -> Tensor:
    """Return which units have nothing new left, bool [T].

    ``highest`` [T]: largest complement of a unit's tokens; ``scale``: largest norm of a token.
    """
    return highest <= _SATURATED * scale


def _spread(complement: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Return the least complement of every unit, and the range of its complements: [..., 1] each.

    The range is infinite if the complements do not count; see :func:`joint_score`.
    """
    low, high = torch.aminmax(complement, dim=-1, keepdim=True)
    spread = torch.nn.functional.threshold(high, _SATURATED * scale, -math.inf) - low
    # an infinite spread scales every difference to zero
    return low, torch.nn.functional.threshold(spread, _CONSTANT * scale, math.inf)
