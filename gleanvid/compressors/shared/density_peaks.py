"""Density-peak clustering with k nearest neighbours (DPC-KNN), shared by most merging methods.

Du, Ding, Jia, "Study on density peaks clustering based on k-nearest neighbors and principal
component analysis" (Knowledge-Based Systems 2016). Not ported: the unseeded noise of up to 1e-6
that the video methods add to the densities; ties here go to the lower index.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

from gleanvid.compressors.shared.ranking import top_indices

if TYPE_CHECKING:
    from torch import Tensor

_CHUNK = 2048  # number of rows of the distance matrix that are held in memory at a time


def density_peaks(features: Tensor, num_centers: int, k: int) -> tuple[Tensor, Tensor, Tensor]:
    """Cluster n points around dense points that are far from any denser one.

    ``features``: [..., n, D]. Distances are Euclidean, divided by sqrt(D). The density of a point
    is exp(-m) with the mean m of its ``k`` smallest squared distances, the zero to itself included.
    The score of a point is its density times its distance to the nearest denser point. The densest
    point has none; the largest distance of all is used for it. The ``num_centers`` points of
    highest score are the centres.

    Returns three tensors: the ascending indices of the centres, int64 [..., num_centers]; for every
    point the number of its nearest centre in that list, int64 [..., n]; and the logarithms of the
    scores, [..., n], which also tell points apart whose density would underflow. Raises
    ``ValueError`` unless ``num_centers`` and ``k`` are in [1, n].
    """
    count = features.shape[-2]
    for label, value in (("num_centers", num_centers), ("k", k)):
        if not 1 <= value <= count:
            raise ValueError(f"{label}={value} must be in [1, {count}]")
    points = features.float()
    points = (points - points.mean(dim=-2, keepdim=True)) / points.shape[-1] ** 0.5
    # [..., n]: minus the logarithm of the density
    spread = torch.cat(
        [part.topk(k, dim=-1, largest=False).values.mean(dim=-1) for part in _squares(points)],
        dim=-1,
    )
    gaps, farthest = _gaps(points, spread)
    largest = farthest.amax(dim=-1, keepdim=True)
    score = torch.where(gaps.isinf(), largest, gaps).log() * 0.5 - spread
    centers = top_indices(score, num_centers)
    return centers, _nearest(points, centers), score


def _squares(points: Tensor) -> Iterator[Tensor]:
    """Yield the matrix of squared distances between points [..., n, D], some rows at a time.

    The distance of a point to itself is exactly zero.
    """
    for first in range(0, points.shape[-2], _CHUNK):
        part = _squares_between(points[..., first : first + _CHUNK, :], points)
        part.diagonal(offset=first, dim1=-2, dim2=-1).zero_()
        yield part


def _squares_between(rows: Tensor, points: Tensor) -> Tensor:
    """Return the squared distances [..., r, n] of r ``rows`` to n ``points``.

    It takes one matrix product. To limit rounding errors, the caller has centred the points.
    """
    inner = rows @ points.transpose(-1, -2)
    lengths = rows.square().sum(dim=-1)[..., :, None] + points.square().sum(dim=-1)[..., None, :]
    return (lengths - 2.0 * inner).clamp_(min=0)


def _gaps(points: Tensor, spread: Tensor) -> tuple[Tensor, Tensor]:
    """Return each point's squared distances to its nearest denser and to its farthest point.

    Both are [..., n]. The first is infinite if no point is denser. ``spread`` [..., n] is minus the
    logarithm of the density, so it is smaller for denser points.
    """
    gaps, farthest, first = [], [], 0
    for part in _squares(points):
        own = spread[..., first : first + part.shape[-2], None]
        farthest.append(part.amax(dim=-1))
        gaps.append(part.masked_fill_(spread[..., None, :] >= own, float("inf")).amin(dim=-1))
        first += part.shape[-2]
    return torch.cat(gaps, dim=-1), torch.cat(farthest, dim=-1)


def _nearest(points: Tensor, centers: Tensor) -> Tensor:
    """Return the number of the centre nearest to each point, int64 [..., n].

    A centre gets its own number; of equally near centres the first is taken.
    """
    chosen = points.gather(-2, centers[..., None].expand(*centers.shape, points.shape[-1]))
    parts = [_squares_between(part, chosen).argmin(dim=-1) for part in points.split(_CHUNK, dim=-2)]
    own = torch.arange(centers.shape[-1], device=centers.device).expand_as(centers)
    return torch.cat(parts, dim=-1).scatter_(-1, centers, own)
