"""Scores of the tokens of a unit, and which tokens to keep (Algorithm 2, lines 5-13).

Letters: T units, N tokens of a unit, C pooling cells, D width.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

# a unit is saturated if no complementarity in it is above this fraction of the largest token norm
_SATURATED = 1e-3
# Scores of a unit whose maximum minus minimum is at most this differ by rounding errors alone. For
# complementarity, the number is a fraction of the largest token norm.
_CONSTANT = 1e-6
_TIED = 1e-4  # joint scores this close to the lowest chosen one count as equal to it
_TINY = 1e-30  # makes the cosine with a zero vector zero


def local_scores(
    features: Tensor, norms: Tensor, references: Tensor, cell: Tensor, tau: float
) -> Tensor:
    """Return the local representativeness u of every token (Eq. ncd), float64 [T, N].

    ``features`` [T, N, D]: tokens before debiasing. ``norms`` [T, N]: their norms. ``references``
    [T, C + 1, D]: mean features of the C pooling cells of every unit, then of the whole unit.
    ``cell`` int64 [N]: number of each position's cell. ``tau``: sharpness of the score.
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
    """Return local score plus complementarity of every token (Eq. joint_score), [..., N].

    ``local`` is in [0, 1] already; ``complement`` is scaled to [0, 1] within each unit. It counts
    as 0 in a unit whose tokens add nothing new (see :func:`saturated`), and in one where its values
    differ by rounding errors alone. ``scale``: largest norm of a token.
    """
    low, spread = _spread(complement, scale)
    return torch.addcdiv(local, complement - low, spread)


def choose(local: Tensor, complement: Tensor, scale: float, count: int) -> Tensor:
    """Return the positions of the highest joint scores of a unit, best first: int64 [count].

    ``local``, ``complement`` [N] and ``scale``: see :func:`joint_score`. Scores within 1e-4 of the
    last one kept are tied with it, and ties go to the lower index: they may be rounding errors.
    """
    # This is the joint score minus a constant, which does not change the order.
    score = torch.addcdiv(local, complement, _spread(complement, scale)[1])
    last = score.kthvalue(len(score) - count + 1).values
    difference = torch.nn.functional.hardshrink(score - last, _TIED)
    return torch.sort(difference, descending=True, stable=True).indices[:count]


def saturated(complement: Tensor, scale: float) -> Tensor:
    """Return which units are saturated, bool [T]: none of their tokens adds anything new.

    ``complement`` [T, N]: complementarity. ``scale``: largest norm of a token.
    """
    return complement.amax(1) <= _SATURATED * scale


def _spread(complement: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Return the minimum and the range of the complementarity in every unit, [..., 1] each.

    The range is infinite if complementarity counts as 0 (see :func:`joint_score`): dividing by it
    gives 0.
    """
    low, high = torch.aminmax(complement, dim=-1, keepdim=True)
    spread = torch.nn.functional.threshold(high, _SATURATED * scale, -math.inf) - low
    return low, torch.nn.functional.threshold(spread, _CONSTANT * scale, math.inf)
