"""Merge tokens into anchors by optimal transport, within a unit and over time.

Letters: T units, N tokens of a unit, D width, V anchors of a unit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from gleanvid.compressors.aot.transport import sinkhorn

if TYPE_CHECKING:
    from torch import Tensor

_EPSILON = 0.1  # entropic regularisation of the transport, within a unit and over time
# weight of spatial distance in the transport cost; a frame has width and height 1
_SPACE = 0.5
# weight of the assignment to the most similar anchor; the transport plan has the rest
_NEAREST = 0.1
# standard deviation of the Gaussian that scales the cost over time, in temporal units
_SPREAD = 1.5


def units_merged(features: Tensor, chosen: Tensor, grid: tuple[int, int, int]) -> list[Tensor]:
    """Merge the tokens of every unit of ``features`` [T, N, D] into its V anchors.

    Returns the weights [V, N] of each unit's tokens in its anchors. ``chosen`` bool [T, N]: True on
    anchors.
    """
    sides = [torch.linspace(0, 1, side, device=features.device) for side in grid[1:]]
    place = torch.cartesian_prod(*sides)  # [N, 2]: position in the frame
    sizes = chosen.sum(dim=1).tolist()
    found: list[Tensor] = [features.new_zeros(0)] * len(sizes)
    for size in set(sizes):  # all units with the same number of anchors at once
        same = [unit for unit, own in enumerate(sizes) if own == size]
        order = torch.sort(~chosen[same], dim=1, stable=True).indices  # anchors come first
        for unit, rows in zip(same, _merged(features[same], order, size, place), strict=True):
            found[unit] = rows
    return found


def _merged(features: Tensor, order: Tensor, size: int, place: Tensor) -> Tensor:
    """Return the weights [T, V, N] of the tokens of T units in their V = ``size`` anchors.

    The anchors are the first ``size`` tokens of ``order`` [T, N]. ``place`` [N, 2]: position of
    every token in the frame.
    """
    units, per_unit, width = features.shape
    anchor, rest = order[:, :size], order[:, size:]
    own = torch.zeros(units, size, per_unit, device=features.device)
    if size == 0 or size == per_unit:
        return own.scatter_(2, anchor[..., None], 1.0)
    unit = torch.nn.functional.normalize(features, dim=-1)
    targets, sources = (
        unit.gather(1, part[..., None].expand(-1, -1, width)) for part in (anchor, rest)
    )
    cosine = sources @ targets.mT  # [T, N - V, V]: other tokens, anchors
    cost = (1.0 - cosine) + _SPACE * torch.cdist(place[rest], place[anchor])
    plan = sinkhorn(cost, _EPSILON)
    nearest = torch.zeros_like(plan).scatter_(2, cosine.argmax(dim=2, keepdim=True), 1.0)
    for part, weight in ((plan, 1.0 - _NEAREST), (nearest, _NEAREST)):
        share = weight / (1.0 + part.sum(dim=1, keepdim=True))  # [T, 1, V]
        own.scatter_add_(2, anchor[..., None], share.mT)
        own.scatter_add_(2, rest[:, None].expand(-1, size, -1), (part * share).mT)
    return own


def fractions_given(anchors: Tensor, sources: Tensor, apart: int) -> Tensor:
    """Return the fraction of each source (row) that would be merged into each anchor, [V, V].

    ``anchors`` [V, D]: the anchors of the first unit of a part of the video, with the later units
    merged into them so far. ``sources`` [V, D]: the anchors of the unit ``apart`` units later.
    """
    targets, unit = (torch.nn.functional.normalize(rows, dim=-1) for rows in (anchors, sources))
    distance = 1.0 - (unit @ targets.T).clamp(-1 + 1e-6, 1 - 1e-6)
    dear = 1.0 - math.exp(-(apart**2) / (2.0 * _SPREAD**2))
    plan = sinkhorn(((distance - distance.min()) * dear)[None], _EPSILON)[0]
    return plan / plan.sum(dim=1, keepdim=True).clamp(min=1e-9)
