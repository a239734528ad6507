"""Predict dropped tokens from nearby kept ones by regression, and test on other units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from gleanvid.types import Compression

if TYPE_CHECKING:
    from torch import Tensor

NEAREST = 2  # number of kept tokens from which a dropped token is predicted
RIDGE = 1e-2  # ridge penalty, divided by the mean squared norm of the regression's input variables


def principal_components(features: Tensor, count: int = 64) -> Tensor:
    """Project tokens [L, D] on the strongest principal components of their clip, [L, count]."""
    rows = features.double()
    rows = rows - rows.mean(dim=0)
    return rows @ torch.linalg.eigh(rows.T @ rows).eigenvectors[:, -count:]


def reconstruction(components: Tensor, record: Compression) -> float:
    """Return R^2 of a ridge regression that predicts the dropped tokens of a compression record.

    Each is predicted from the ``NEAREST`` kept (or merged) tokens in time and space. The regression
    is fitted on even units and tested on odd units. Return NaN if one of these two halves has no
    dropped token. ``components`` [L, d]: result of :func:`principal_components`, which is the same
    for all records of a clip.
    """
    dropped = torch.nonzero(~record.mask).squeeze(1)
    kept = record.apply(components)[_nearest(record, dropped)].flatten(1)
    inputs = torch.cat([kept, torch.ones_like(kept[:, :1])], dim=1)
    fitted = dropped // (record.grid[1] * record.grid[2]) % 2 == 0
    if not fitted.any() or fitted.all():
        return float("nan")
    known, wanted = inputs[fitted], components[dropped[fitted]]
    gram = known.T @ known
    gram.diagonal().add_(RIDGE * float(gram.diagonal().mean()))
    guess = inputs[~fitted] @ torch.linalg.solve(gram, known.T @ wanted)
    truth = components[dropped[~fitted]]
    return float(1 - (truth - guess).square().sum() / (truth - wanted.mean(dim=0)).square().sum())


def _nearest(record: Compression, dropped: Tensor) -> Tensor:
    """Return the indices of the output tokens nearest to each dropped one, [n, ``NEAREST``].

    Distances are Euclidean in (unit, row, column). ``dropped`` int64 [n]: flat token indices.
    """
    _, rows, columns = record.grid

    def places(at: Tensor) -> Tensor:
        unit, row, column = at // (rows * columns), at // columns % rows, at % columns
        return torch.stack([unit, row, column], dim=1).double()

    distance = torch.cdist(places(dropped), places(record.keep))
    return distance.topk(min(NEAREST, record.num_kept), dim=1, largest=False).indices
