"""Context debiasing (Eq. debias): remove the directions that all tokens share.

Letters: T units, N tokens of a unit, L = T*N, D width, r directions, q rows of a Krylov basis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

_EXACT_BELOW = 128  # a dense eigensolver is used if L or D is at most this
_BLOCK = 16  # the number of vectors of a Krylov block is a multiple of this, to suit GPUs
_MAX_STEPS = 24
_TOLERANCE = 1e-6
_DEPENDENT = 1e-14  # fraction of a squared norm added to it: keeps Cholesky factors finite


def top_directions(
    features: Tensor, mean: Tensor, rank: int, pooled: Tensor | None = None
) -> Tensor:
    """Return the first right singular vectors of ``features`` [L, D] - ``mean`` [D].

    They are orthonormal rows [r, D], r = min(rank, L, D), in the dtype of the features: of small
    matrices by a float64 eigensolver, else by a block Krylov method. That may stop early in white
    noise, with at least 1 - 1e-4 of the largest energy in the first direction. ``pooled`` [P, D]:
    means over groups of tokens, for a better start.
    """
    rank = min(rank, *features.shape)
    if rank == 0:
        return features.new_zeros(0, features.shape[1])
    if min(features.shape) <= _EXACT_BELOW:
        return _dense_directions(features, mean, rank)
    return _krylov_directions(features, mean, rank, features if pooled is None else pooled)


def _dense_directions(features: Tensor, mean: Tensor, rank: int) -> Tensor:
    centred = (features - mean).double()
    wide = features.shape[0] <= features.shape[1]
    gram = centred @ centred.T if wide else centred.T @ centred
    found = torch.linalg.eigh(gram.cpu()).eigenvectors[:, -rank:].flip(1).T.to(gram.device)
    return torch.nn.functional.normalize(found @ centred if wide else found, eps=1e-300).to(
        features.dtype
    )


def _krylov_directions(features: Tensor, mean: Tensor, rank: int, start: Tensor) -> Tensor:
    """Return the first right singular vectors [rank, D] of A = features - mean, without forming A.

    The method is Rayleigh-Ritz on a block Krylov space of A^T A. The space starts with random
    combinations of the rows of ``start`` after one step of the power method. Its small
    eigenproblems are solved on the host and also give the residual, at which the method stops.
    """
    width = -(-2 * rank // _BLOCK) * _BLOCK
    drawn = torch.randn(width, len(start), generator=torch.Generator().manual_seed(0))
    block = _images(orthonormalised(_combined(drawn.to(start), start, mean)), start, mean)
    basis = images = features.new_zeros(0, features.shape[1])
    for _ in range(_MAX_STEPS):
        for _ in range(2):  # the second pass removes rounding errors
            block = orthonormalised(outside(block, basis))
        basis = torch.cat([basis, block])
        block = _images(block, features, mean)
        images = torch.cat([images, block])
        weights, error = _ritz(basis, images, rank)
        if error <= _TOLERANCE:
            break
    return torch.nn.functional.normalize(weights.to(basis) @ basis)


def _images(block: Tensor, rows: Tensor, mean: Tensor) -> Tensor:
    """Return A^T A times every row of ``block`` [k, D], with A = rows - mean."""
    products = torch.addmm(block @ mean, rows, block.T, beta=-1.0)
    return _combined(products.T, rows, mean)


def _combined(weights: Tensor, features: Tensor, mean: Tensor) -> Tensor:
    """Return k weighted sums [k, D] of the rows of features - mean. ``weights``: [k, L]."""
    return torch.addr(weights @ features, weights.sum(1), mean, alpha=-1.0)


def _ritz(basis: Tensor, images: Tensor, rank: int) -> tuple[Tensor, float]:
    """Return the r = ``rank`` strongest directions in the span of ``basis`` [q, D].

    They are given as weights [r, q] of the basis vectors, with the largest of their relative
    residuals. ``images`` [q, D] are A^T A times the basis. The squared residual of weights y with
    eigenvalue theta, |images^T y - theta basis^T y|^2, is computed from the Gram matrix of basis
    and images, because a difference of large norms would lose digits.
    """
    both, size = torch.cat([basis, images]).double(), len(basis)
    gram = (both @ both.T).cpu()
    small = gram[:size, size:]
    values, vectors = torch.linalg.eigh((small + small.T) / 2)
    weights, theta = vectors[:, -rank:].flip(1).T, values[-rank:].flip(0)
    stacked = torch.cat([-theta[:, None] * weights, weights], dim=1)
    squares = ((stacked @ gram) * stacked).sum(1).clamp(min=0)
    return weights, float(squares.max().sqrt() / theta[0].clamp(min=1e-30))


def remove_directions(features: Tensor, mean: Tensor, directions: Tensor) -> Tensor:
    """Return ``features`` [L, D] minus the projection of (features - mean) on ``directions``.

    This is GleanVID's context debiasing (Eq. debias). ``mean`` [D]: mean of the clip's features.
    ``directions`` [r, D] are orthonormal.
    """
    coordinates = torch.addmm(directions @ mean, features, directions.T, beta=-1.0)
    return torch.addmm(features, coordinates, directions, alpha=-1.0)


@dataclass(frozen=True, eq=False)
class DebiasedClip:
    """Debiased tokens (Eq. debias) of ``features`` [T, N, D], computed on demand.

    A debiased token is the token minus the projection of token - mean on the orthonormal
    ``directions`` [r, D]. ``mean`` [D] is the mean of the clip. Debiased tokens are computed unit
    by unit, so a second copy of all features is never in memory.
    """

    features: Tensor
    mean: Tensor
    directions: Tensor
    coordinates: Tensor  # [T, N, r]: dot products of token - mean with the directions
    norms: Tensor  # norms of the features [T, N]
    squares: Tensor  # float64 [T, N]: squared norms of the debiased tokens
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
        return cls(features, mean, directions, coordinates, norms, squares, scale)

    def unit(self, unit: int) -> Tensor:
        """Return the debiased tokens [N, D] of one unit as a new tensor."""
        return torch.addmm(self.features[unit], self.coordinates[unit], self.directions, alpha=-1.0)


def outside(rows: Tensor, basis: Tensor) -> Tensor:
    """Return vectors [k, D] minus their projection on ``basis`` [q, D].

    The rows of the basis are orthonormal or zero.
    """
    return torch.addmm(rows, rows @ basis.T, basis, alpha=-1.0) if len(basis) else rows


def orthonormalised(rows: Tensor) -> Tensor:
    """Orthonormalise vectors [k, D] in their order.

    The result of a vector that depends linearly on those before it is shorter than 1.
    """
    wide = rows.double()
    gram = wide @ wide.T
    gram.diagonal().mul_(1 + _DEPENDENT).add_(1e-280)  # Cholesky would fail on all-zero rows
    factor = torch.linalg.cholesky_ex(gram).L
    return torch.linalg.solve_triangular(factor, wide, upper=False).to(rows.dtype)
