"""Context debiasing (Eq. debias): the directions that all tokens share, and tokens without them.

Letters: T units, N tokens of a unit, L = T*N, D width, r directions, q rows of a Krylov basis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

_EXACT_BELOW = 128  # the smaller side up to which a dense eigensolver is used
_BLOCK = 16  # Krylov block, rounded up to a multiple: odd widths waste the matrix units
_MAX_STEPS = 24
_TOLERANCE = 1e-6
_DEPENDENT = (
    1e-14  # relative to a row's squared norm; smaller values are rounding errors of float32
)


def top_directions(
    features: Tensor, mean: Tensor, rank: int, pooled: Tensor | None = None
) -> Tensor:
    """Top right singular vectors of the centred matrix: [L, D], [D] -> orthonormal rows [r, D].

    float32 in, float32 out, r = min(rank, L, D). Small matrices use a dense eigensolver in float64,
    large ones a block Krylov method that runs until the residual of every direction has converged.
    In white noise many directions are all but equally strong, and it may stop at its limit of steps
    before: it then gives one that is as strong as the first (to 1e-4 of its energy or less).
    ``pooled`` [P, D], means over parts of the rows, let it start nearer at less cost.
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
    """Rayleigh-Ritz on the block Krylov space of A^T A, A = features - mean, never formed.

    The space grows from random combinations of the rows of ``start``, after one step of the power
    method on them; its small eigenproblems are solved on the host, where they also say whether it
    has grown far enough.
    """
    width = -(-2 * rank // _BLOCK) * _BLOCK
    drawn = torch.randn(width, len(start), generator=torch.Generator().manual_seed(0))
    block = _images(orthonormalised(_combined(drawn.to(start), start, mean)), start, mean)
    basis = images = features.new_zeros(0, features.shape[1])
    for _ in range(_MAX_STEPS):
        for _ in range(2):  # two passes for accuracy
            block = orthonormalised(outside(block, basis))
        basis = torch.cat([basis, block])
        block = _images(block, features, mean)
        images = torch.cat([images, block])
        weights, error = _ritz(basis, images, rank)
        if error <= _TOLERANCE:
            break
    return torch.nn.functional.normalize(weights.to(basis) @ basis)


def _images(block: Tensor, rows: Tensor, mean: Tensor) -> Tensor:
    """A^T A times every row of a block [k, D], A = rows - mean."""
    products = torch.addmm(block @ mean, rows, block.T, beta=-1.0)
    return _combined(products.T, rows, mean)


def _combined(weights: Tensor, features: Tensor, mean: Tensor) -> Tensor:
    """Linear combinations [k, D] of the centred rows, by weights [k, L]."""
    return torch.addr(weights @ features, weights.sum(1), mean, alpha=-1.0)


def _ritz(basis: Tensor, images: Tensor, rank: int) -> tuple[Tensor, float]:
    """Weights [r, q] of the top directions in a basis [q, D] and their largest relative residual.

    ``images`` [q, D] are A^T A applied to the basis. With y the weights of a direction and theta
    its value, the squared residual |images^T y - theta basis^T y|^2 is a form of the Gram matrix of
    both: nothing is lost to a difference of large norms.
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
    """Context debiasing (Eq. debias): [L, D] minus the projections of its centred rows."""
    coordinates = torch.addmm(directions @ mean, features, directions.T, beta=-1.0)
    return torch.addmm(features, coordinates, directions, alpha=-1.0)


@dataclass(frozen=True, eq=False)
class DebiasedClip:
    """Debiased tokens (Eq. debias) of ``features`` [T, N, D], computed on demand.

    The projection of each centred token on the orthonormal ``directions`` [r, D] is removed;
    ``mean`` [D] is that of the clip. A debiased copy of all features is never held.
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
        along = torch.addmm(shared, features.flatten(0, 1), directions.T, beta=-1.0)
        coordinates = along.view(*features.shape[:2], -1)
        norms = torch.linalg.vector_norm(features, dim=-1)
        along = coordinates.double()
        squares = norms.double().square() - (along * along.add(shared, alpha=2.0)).sum(-1)
        scale = math.sqrt(max(0.0, float(squares.max())))
        return cls(features, mean, directions, coordinates, norms, scale)

    def unit(self, unit: int) -> Tensor:
        """The debiased tokens [N, D] of one unit, a tensor of its own."""
        return torch.addmm(self.features[unit], self.coordinates[unit], self.directions, alpha=-1.0)


def outside(rows: Tensor, basis: Tensor) -> Tensor:
    """Rows [k, D] less their projection on an orthonormal ``basis`` [q, D] (zero rows allowed)."""
    return torch.addmm(rows, rows @ basis.T, basis, alpha=-1.0) if len(basis) else rows


def orthonormalised(rows: Tensor) -> Tensor:
    """Orthonormalise rows [k, D]; a row that depends on earlier ones comes out shorter than 1."""
    wide = rows.double()
    gram = wide @ wide.T
    gram.diagonal().mul_(1 + _DEPENDENT).add_(1e-280)  # above zero for rows of nothing
    factor = torch.linalg.cholesky_ex(gram).L
    return torch.linalg.solve_triangular(factor, wide, upper=False).to(rows.dtype)
