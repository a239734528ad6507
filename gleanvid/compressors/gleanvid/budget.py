"""Temporal novelty of every unit (Algorithm 1, lines 10-17).

The mean feature of a pooling cell in a unit is its prototype z. The prototypes of the same cell in
earlier units are its history, with Gram matrix G and dot products b with z. The novelty of the cell
is its residual norm r, with r^2 = |z|^2 - b^T (G + ridge I)^-1 b.

Letters: T units, C pooling cells, D width, S units solved at once, q units before them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from gleanvid.compressors.gleanvid.debiasing import DebiasedClip, remove_directions

if TYPE_CHECKING:
    from torch import Tensor

# smallest ridge: keeps the linear system solvable if the history is all zero
_TINY = 1e-300
# number of matrix elements in a batch of linear systems; more if the prototypes are large
_SYSTEMS = 2**19
# Up to this many units, a linear system for each unit is as fast as interpolation between ridges.
_SHORT = 32
# tolerated error of an interpolated squared residual, relative to the largest squared residual that
# the interpolation is computed from
_ERROR = 1e-8
# Each unit of a cell has its own ridge. If the smallest is below this fraction of the largest, no
# residuals are interpolated between ridges.
_RANGE = 1e-4


def history_residuals(prototypes: Tensor, history: int | None, epsilon: float) -> Tensor:
    """Return the residual norm r of every pooling cell (Eq. novelty), float64 [T, C].

    ``prototypes`` [T, C, D]: mean features of the C cells of T units. The history of a cell is the
    same cell in the ``history`` preceding units (None: in all). ``epsilon``: ridge relative to the
    mean squared norm of the prototypes in the history.
    """
    units, _, width = prototypes.shape
    if units <= _SHORT or (history is not None and history < units - 1):
        return _solved(prototypes, history or units, epsilon)
    values = max(_SYSTEMS, prototypes.numel())  # number of elements that a batch may hold
    # largest number of ridges at which the residuals of a cell are computed, to interpolate between
    # them; each ridge needs a T x T matrix and its Cholesky factor
    most = _nodes(-math.log(_RANGE) / 2)
    batch = max(1, values // (units * (width + 2 * most * units)))
    return torch.cat([_interpolated(part, epsilon) for part in prototypes.split(batch, 1)], 1)


def _interpolated(prototypes: Tensor, epsilon: float) -> Tensor:
    """Return the residual norms with all earlier units as history, float64 [T, C].

    For one ridge, the diagonal of a single Cholesky factor gives the residuals of all units. But
    every unit has its own (Eq. batched_gram): ``epsilon`` times the mean squared norm of its
    history. As a factor for each would take O(T^4) operations, the residuals are computed at a few
    ridges and interpolated between them. ``prototypes``: [T, C, D].
    """
    by_cell = prototypes.transpose(0, 1).double()  # float32 would lose small residuals
    gram = torch.bmm(by_cell, by_cell.mT)  # [C, T, T]: Gram matrix of each cell over the units
    del by_cell
    squares = gram.diagonal(dim1=1, dim2=2)
    count = torch.arange(1, len(prototypes) + 1, dtype=torch.float64, device=gram.device)
    ridges = epsilon * (squares.cumsum(1) / count).roll(1, 1)  # the first unit has no history
    low, high = torch.aminmax(ridges[:, 1:], dim=1)
    # If the ridges of a cell differ so much, interpolation between them would hide residuals of
    # prototypes of small norm in rounding errors.
    if bool((low < _RANGE * high).any()):
        return _solved(prototypes, len(prototypes), epsilon)
    found = torch.minimum(_at_ridges(gram, ridges), squares)  # exactly 0 for a zero prototype
    return found.clamp(min=0).sqrt().T


def _at_ridges(gram: Tensor, ridges: Tensor) -> Tensor:
    """Return the squared residuals of all units, each with its own ridge, [C, T].

    ``gram`` [C, T, T]: Gram matrices of the prototypes of C cells in T units. ``ridges``: [C, T].
    The residuals of a cell are interpolated by Chebyshev polynomials in the logarithm of the ridge,
    from the smallest to the largest ridge of the cell.
    """
    high = ridges.amax(1, keepdim=True).clamp(min=_TINY)
    logs = torch.where(ridges > 1e-14 * high, ridges, high).log()  # an empty history has ridge 0
    low, high = torch.aminmax(logs, dim=1, keepdim=True)
    middle, half = (low + high) / 2, ((high - low) / 2).clamp(min=1e-6)
    nodes = _nodes(float(half.max()))
    angles = (torch.arange(nodes).double() + 0.5) * (math.pi / nodes)
    degrees = torch.arange(nodes).double()
    # [degrees, nodes]: weight of the residual at each node (ridge) in each Chebyshev coefficient
    values = torch.outer(degrees, angles).cos() * (2 / nodes)
    values[0] /= 2
    angles, degrees, values = (x.to(gram.device) for x in (angles, degrees, values))
    used = (middle + half * angles.cos()).exp()  # [C, nodes]: ridges at the nodes
    systems = gram[:, None].repeat(1, nodes, 1, 1)
    systems.diagonal(dim1=2, dim2=3).add_(used[..., None])
    pivots = torch.linalg.cholesky_ex(systems).L.diagonal(dim1=2, dim2=3)
    at_nodes = pivots.square() - used[..., None]  # [C, nodes, T]: squared residuals
    # [C, T]: arccos of the logarithms of the units' ridges, after these were scaled to [-1, 1]
    where = ((logs - middle) / half).clamp(-1, 1).acos()
    # [C, T, nodes]: weight of the residual at each node in the interpolated residual of each unit
    weights = (where[..., None] * degrees).cos() @ values
    return (weights * at_nodes.mT).sum(2)


def _nodes(half_width: float) -> int:
    """Return how many ridges (nodes) an interpolation with the error ``_ERROR`` needs.

    ``half_width`` h: half the length of the interval of the ridges' logarithms. The interpolated
    function has its poles at negative ridges, whose logarithms are pi away from the real axis. So
    the error falls as exp(-m asinh(pi / h)) with m nodes.
    """
    return 1 + math.ceil(-math.log(_ERROR) / math.asinh(math.pi / half_width))


def _solved(prototypes: Tensor, history: int, epsilon: float) -> Tensor:
    """Return :func:`history_residuals` for a history of at most ``history`` units.

    The linear systems (Eq. batched_gram) of all cells, and of as many units as memory allows, are
    solved at once.
    """
    units, cells, width = prototypes.shape
    by_cell = prototypes.transpose(0, 1).double()  # float32 would lose small residuals
    gram = torch.bmm(by_cell, by_cell.transpose(1, 2))  # [C, T, T]
    del by_cell  # frees memory for the systems below
    squares = gram.diagonal(dim1=1, dim2=2)  # [C, T]: squared norms of the prototypes
    left = squares.clone()
    # number of matrix elements in a batch of linear systems: _SYSTEMS, or a third of the number of
    # elements of the prototypes if that is more; the systems of a single unit may exceed it
    batch = max(_SYSTEMS, cells * units * width // 3)
    step = max(1, batch // (cells * units * units))
    for start in range(1, units, step):
        stop = min(start + step, units)
        oldest = max(0, start - history)
        gap = torch.arange(start, stop)[:, None] - torch.arange(oldest, stop - 1)
        known = ((gap > 0) & (gap <= history)).double()
        weights = epsilon * known / known.sum(1, keepdim=True)
        # [S, q]: 1 where an earlier unit is in the history of a unit, else 0
        seen, weights = known.to(gram.device), weights.to(gram.device)
        past = slice(oldest, stop - 1)
        ridge = squares[:, past] @ weights.T  # [C, S]: ridge of each unit
        # Units outside the history get 1 on the diagonal: with 0 the system would be singular.
        diagonal = torch.addcmul(1 - seen, ridge[..., None], seen)
        systems = gram[:, None, past, past] * (seen[:, :, None] * seen[:, None, :])
        systems.diagonal(dim1=2, dim2=3).add_(diagonal.clamp(min=_TINY))
        factor = torch.linalg.cholesky_ex(systems).L
        target = gram[:, start:stop, past] * seen
        half = torch.linalg.solve_triangular(factor, target[..., None], upper=False)
        left[:, start:stop].sub_(half.square().sum((-2, -1)))
    return left.clamp(min=0).sqrt().T


def centred_first_unit(novelty: Tensor, clip: DebiasedClip, means: Tensor) -> Tensor:
    """Return ``novelty`` [T, C] with the distance from the clip's mean as that of the first unit.

    The first unit has no units before it. Its norm, which the paper takes, holds the clip's mean.
    ``means`` [T, C, D]: mean features of C cells, before debiasing.
    """
    first = remove_directions(means[0], clip.mean, clip.directions) - clip.mean
    return torch.cat([torch.linalg.vector_norm(first, dim=1)[None].to(novelty.dtype), novelty[1:]])


def novelty_shares(novelty: Tensor) -> tuple[Tensor, Tensor]:
    """Return the novelty s_t of each unit scaled to sum 1, [T], and its Gini coefficient c.

    See Eq. gini. Both are float64 on the CPU. If the ``novelty`` [T] of all units is zero, each s_t
    is 1/T and c is zero.
    """
    values = novelty.tolist()
    units, total = len(values), math.fsum(values)
    if total <= 0:
        return torch.ones(units).double() / units, torch.zeros(()).double()
    ranked = math.fsum(rank * value for rank, value in enumerate(sorted(values), 1))
    gini = 2 * ranked / (units * total) - (units + 1) / units
    share = torch.tensor([value / total for value in values], dtype=torch.float64)
    return share, torch.tensor(min(max(gini, 0.0), 1.0), dtype=torch.float64)
