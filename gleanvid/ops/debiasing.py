"""Dominant directions and regularised residuals.

Letters: L tokens, D width, C cells, T units, r directions, q rows of a Krylov basis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from gleanvid.ops.basis import orthonormalised, outside

if TYPE_CHECKING:
    from torch import Tensor

_EXACT_BELOW = 128  # the smaller side up to which a dense eigensolver is used
_BLOCK = 16  # Krylov block, rounded up to a multiple: odd widths waste the matrix units
_MAX_STEPS = 24
_TOLERANCE = 1e-6
_TINY = 1e-300  # makes a history of zeros, which explains nothing, solvable
_SYSTEMS = 2**19  # numbers in the Gram systems that are solved at once, at least


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
        for _ in range(2):  # once is not accurate enough
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


def history_residuals(prototypes: Tensor, history: int | None, epsilon: float) -> Tensor:
    """Temporal novelty (Eq. novelty, Eq. batched_gram): [T, C, D] -> residual norms float64 [T, C].

    Unit t is projected on the span of its own cell in the ``history`` preceding units (None: all).
    The Gram systems of all cells and of as many units as memory allows are solved at once.
    """
    units, cells, width = prototypes.shape
    by_cell = prototypes.transpose(0, 1)
    gram = torch.bmm(by_cell, by_cell.transpose(1, 2)).double()  # [C, T, T]
    squares = gram.diagonal(dim1=1, dim2=2)  # [C, T]
    left = squares.clone()
    batch = max(_SYSTEMS, cells * units * width // 3)  # in all at most as large as the prototypes
    step = max(1, batch // (cells * units * units))
    for start in range(1, units, step):
        stop = min(start + step, units)
        oldest = max(0, start - (history or units))
        gap = torch.arange(start, stop)[:, None] - torch.arange(oldest, stop - 1)  # on the host
        known = ((gap > 0) & (gap <= (history or units))).double()
        weights = epsilon * known / known.sum(1, keepdim=True)
        seen, weights = known.to(gram.device), weights.to(gram.device)  # [S, q]: does t see t'?
        past = slice(oldest, stop - 1)
        ridge = squares[:, past] @ weights.T  # [C, S]
        diagonal = torch.addcmul(1 - seen, ridge[..., None], seen)  # 1 keeps unseen rows solvable
        systems = gram[:, None, past, past] * (seen[:, :, None] * seen[:, None, :])
        systems.diagonal(dim1=2, dim2=3).add_(diagonal.clamp(min=_TINY))
        factor = torch.linalg.cholesky_ex(systems).L
        target = gram[:, start:stop, past] * seen
        half = torch.linalg.solve_triangular(factor, target[..., None], upper=False)
        left[:, start:stop].sub_(half.square().sum((-2, -1)))
    return left.clamp(min=0).sqrt().T
