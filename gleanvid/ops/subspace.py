"""Dominant directions, regularised residuals and a growing orthonormal basis.

Letters: L tokens, D width, C cells, T units, r directions, q rank of the basis.
"""

from __future__ import annotations

import torch
from torch import Tensor

_EXACT_BELOW = 128  # the smaller side up to which a dense eigensolver is used
_BLOCK = 16  # Krylov block, rounded up to a multiple: odd widths waste the matrix units
_MAX_STEPS = 24
_TOLERANCE = 1e-6


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
    units, cells, _ = prototypes.shape
    by_cell = prototypes.transpose(0, 1)
    gram = torch.bmm(by_cell, by_cell.transpose(1, 2)).double()  # [C, T, T]
    time = torch.arange(units, device=gram.device)
    gap = time[:, None] - time[None, :]
    seen = (gap > 0) & (gap <= (history or units))  # [T, T]: does unit t see unit t'?
    squares = gram.diagonal(dim1=1, dim2=2)  # [C, T]
    explained = torch.zeros_like(squares)
    step = max(1, 2**24 // (cells * units * units))
    for first in range(1, units, step):
        window = seen[first : first + step].double()  # [S, T]
        ridge = epsilon * (squares @ window.T) / window.sum(1)  # [C, S]
        systems = gram[:, None] * (window[:, :, None] * window[:, None, :])
        diagonal = torch.where(window.bool(), ridge[..., None], 1.0)  # 1 keeps unseen rows solvable
        diagonal = torch.where(diagonal > 0, diagonal, 1.0)  # an all-zero history explains nothing
        systems = systems + torch.diag_embed(diagonal)
        target = gram[:, first : first + step] * window
        factor = torch.linalg.cholesky_ex(systems).L
        half = torch.linalg.solve_triangular(factor, target[..., None], upper=False)
        explained[:, first : first + step] = half.square().sum((-2, -1))
    return (squares - explained).clamp(min=0).sqrt().T


def squared_norms(points: Tensor) -> Tensor:
    """float64 [L] of rows [L, D], summed a few rows at a time so that no copy is held."""
    return torch.cat([rows.double().square_().sum(1) for rows in points.split(64)])


class ResidualBasis:
    """A growing orthonormal basis and what it leaves unexplained of a fixed set of points [L, D].

    ``energy`` float64 [L] holds the squared residual of every point not yet passed. ``capacity``
    rows are allocated once and a rejected direction stays as a zero row, so that no size depends on
    the data and nothing is read back from the device while the basis grows.
    """

    def __init__(self, points: Tensor, capacity: int, relative: float, floor: float) -> None:
        self.points = points
        self.energy = squared_norms(points)
        self.scale = self.energy.max().sqrt()  # the largest norm
        self.rank = torch.zeros((), dtype=torch.long, device=points.device)
        self._relative, self._absolute = relative, floor * self.scale
        self._directions = points.new_empty(capacity, points.shape[1])
        self._coordinates = points.new_empty(len(points), capacity)  # points in the basis
        self._used = 0

    def absorb(self, chosen: Tensor, first: int) -> None:
        """Add the points ``chosen`` int64 [k]; bring the points from ``first`` on up to date.

        A direction stays if |R_jj| passes ``relative`` times the largest (Eq. qr_filter) and
        ``floor`` times the largest norm. Residual energies follow Eq. incremental_scs.
        """
        used = slice(0, self._used)
        held = self._directions[used]
        known = self._coordinates[chosen, used]
        residual = torch.addmm(self.points[chosen], known, held, alpha=-1.0)
        directions, upper = torch.linalg.qr(residual.T)
        size = upper.diagonal().abs()
        valid = (size > self._relative * size.max()) & (size > self._absolute)
        fresh = directions.T
        fresh = torch.addmm(fresh, fresh @ held.T, held, alpha=-1.0)  # twice is enough
        fresh = torch.nn.functional.normalize(fresh, dim=1) * valid[:, None]
        gained = self.points[first:] @ fresh.T
        self.energy[first:] -= gained.double().square().sum(1)
        self.energy[first:].clamp_(min=0)
        added = slice(self._used, self._used + len(fresh))
        self._directions[added] = fresh
        self._coordinates[first:, added] = gained
        self._used = added.stop
        self.rank = self.rank + valid.sum()
