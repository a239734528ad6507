"""Dominant directions, regularised residuals and a growing orthonormal basis.

Letters: L tokens, D width, C cells, T units, r directions, q rank of the basis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

_EXACT_BELOW = 128  # the smaller side up to which a dense eigensolver is used
_BLOCK = 16  # Krylov block, rounded up to a multiple: odd widths waste the matrix units
_MAX_STEPS = 24
_TOLERANCE = 1e-6
_ROWS = 4096  # points brought up to date at once
_SYSTEMS = 2**19  # numbers in the Gram systems that are solved at once, at least


def top_directions(features: Tensor, mean: Tensor, rank: int) -> Tensor:
    """Top right singular vectors of the centred matrix: [L, D], [D] -> orthonormal rows [r, D].

    float32 in, float32 out, r = min(rank, L, D). Small matrices use a dense eigensolver in float64,
    large ones a block Krylov method that runs until the residual of every direction has converged.
    """
    rank = min(rank, *features.shape)
    if rank == 0:
        return features.new_zeros(0, features.shape[1])
    if min(features.shape) <= _EXACT_BELOW:
        return _dense_directions(features, mean, rank)
    return _krylov_directions(features, mean, rank)


def _dense_directions(features: Tensor, mean: Tensor, rank: int) -> Tensor:
    centred = (features - mean).double()
    if features.shape[0] <= features.shape[1]:
        left = torch.linalg.eigh(centred @ centred.T).eigenvectors[:, -rank:].flip(1)
        directions = (centred.T @ left).T
        norms = directions.norm(dim=1, keepdim=True)
        directions = torch.where(norms > 0, directions / norms.clamp(min=1e-300), 0.0)
    else:
        directions = torch.linalg.eigh(centred.T @ centred).eigenvectors[:, -rank:].flip(1).T
    return directions.to(features.dtype)


def _krylov_directions(features: Tensor, mean: Tensor, rank: int) -> Tensor:
    """Rayleigh-Ritz on the block Krylov space of A^T A, A = features - mean, never formed."""
    generator = torch.Generator().manual_seed(0)
    width = -(-2 * rank // _BLOCK) * _BLOCK
    start = torch.randn(features.shape[1], width, generator=generator)
    block = torch.linalg.qr(start.to(features)).Q
    basis, images = block, _gram_times(features, mean, block)
    for _ in range(_MAX_STEPS):
        small = basis.double().T @ images.double()
        values, vectors = torch.linalg.eigh((small + small.T) / 2)
        chosen = vectors[:, -rank:].flip(1).to(features.dtype)
        directions = basis @ chosen
        residual = images @ chosen - directions * values[-rank:].flip(0).to(features.dtype)
        if bool((residual.norm(dim=0) <= _TOLERANCE * values[-1].clamp(min=1e-30)).all()):
            break
        block = _orthogonal_to(basis, images[:, -block.shape[1] :])
        basis = torch.cat([basis, block], dim=1)
        images = torch.cat([images, _gram_times(features, mean, block)], dim=1)
    return torch.linalg.qr(directions).Q.T.contiguous()


def _gram_times(features: Tensor, mean: Tensor, block: Tensor) -> Tensor:
    """A^T A block for A = features - mean: two passes over the features."""
    projected = features @ block - mean @ block
    return features.T @ projected - mean[:, None] * projected.sum(0)


def _orthogonal_to(basis: Tensor, block: Tensor) -> Tensor:
    for _ in range(2):
        block = block - basis @ (basis.T @ block)
        block = torch.linalg.qr(block).Q
    return block


def remove_directions(features: Tensor, mean: Tensor, directions: Tensor) -> Tensor:
    """Context debiasing (Eq. debias): [L, D] minus the projections of its centred rows."""
    coordinates = features @ directions.T - directions @ mean
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
    explained = torch.zeros_like(squares)
    batch = max(_SYSTEMS, cells * units * width // 4)  # in all at most as large as the prototypes
    step = max(1, batch // (cells * units * units))
    for start in range(1, units, step):
        stop = min(start + step, units)
        oldest = max(0, start - (history or units))
        time = torch.arange(oldest, stop, device=gram.device)
        gap = time[start - oldest :, None] - time[None, :-1]
        seen = ((gap > 0) & (gap <= (history or units))).double()  # [S, q]: does t see t'?
        past = slice(oldest, stop - 1)
        ridge = epsilon * (squares[:, past] @ seen.T) / seen.sum(1)  # [C, S]
        diagonal = torch.where(seen.bool(), ridge[..., None], 1.0)  # 1 keeps unseen rows solvable
        diagonal = torch.where(diagonal > 0, diagonal, 1.0)  # an all-zero history explains nothing
        systems = gram[:, None, past, past] * (seen[:, :, None] * seen[:, None, :])
        systems.diagonal(dim1=2, dim2=3).add_(diagonal)
        factor = torch.linalg.cholesky_ex(systems).L
        target = gram[:, start:stop, past] * seen
        half = torch.linalg.solve_triangular(factor, target[..., None], upper=False)
        explained[:, start:stop] = half.square().sum((-2, -1))
    return (squares - explained).clamp(min=0).sqrt().T


def squared_norms(points: Tensor) -> Tensor:
    """float64 [L] of rows [L, D], summed a few rows at a time so that no copy is held."""
    return torch.cat([rows.double().square_().sum(1) for rows in points.split(64)])


class ResidualBasis:
    """A growing orthonormal basis and what it leaves unexplained of a fixed set of points [L, D].

    ``energy`` float64 [L] holds the squared residual of every point not yet passed. At most
    ``capacity`` points are taken in. Valid directions move up behind those held, others go to a
    spare row at the end, so that nothing is read back from the device while the basis grows.
    """

    def __init__(self, points: Tensor, capacity: int, relative: float, floor: float) -> None:
        self.points = points
        self.energy = squared_norms(points)
        self.scale = self.energy.max().sqrt()  # the largest norm
        self.rank = torch.zeros((), dtype=torch.long, device=points.device)
        self._relative, self._absolute = relative, floor * self.scale
        self._most = min(capacity, points.shape[1])  # directions that there can be
        self._directions = points.new_zeros(self._most + 1, points.shape[1])
        self._used = 0  # rows that may hold a direction

    def absorb(self, chosen: Tensor, first: int) -> None:
        """Add the points ``chosen`` int64 [k]; bring the points from ``first`` on up to date.

        A direction stays if |R_jj| passes ``relative`` times the largest (Eq. qr_filter) and
        ``floor`` times the largest norm. Residual energies follow Eq. incremental_scs.
        """
        held = self._directions[: self._used]
        residual = self.points[chosen]
        residual = torch.addmm(residual, residual @ held.T, held, alpha=-1.0)
        directions, upper = torch.linalg.qr(residual.T)
        size = upper.diagonal().abs()
        valid = (size > self._relative * size.max()) & (size > self._absolute)
        fresh = directions.T
        fresh = torch.addmm(fresh, fresh @ held.T, held, alpha=-1.0)  # twice is enough
        fresh = torch.nn.functional.normalize(fresh, dim=1) * valid[:, None]
        for start in range(first, len(self.points), _ROWS):
            rows = slice(start, start + _ROWS)
            self.energy[rows] -= (self.points[rows] @ fresh.T).double().square().sum(1)
        self.energy[first:].clamp_(min=0)
        place = torch.where(valid, self.rank + valid.cumsum(0) - 1, self._most)
        self._directions.index_copy_(0, place.clamp(max=self._most), fresh)
        self._used = min(self._used + len(fresh), self._most)
        self.rank = self.rank + valid.sum()
