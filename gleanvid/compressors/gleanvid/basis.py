"""Orthonormal basis of the kept tokens (Algorithm 2, lines 16-18).

Cholesky factors of small float64 Gram matrices take the place of tall QR factorizations. While
there are at most D vectors, nothing is copied to the host.
Letters: k vectors (rows of a matrix), D their width, q vectors of the basis.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from torch import Tensor

# size of the ridge relative to ``floor``; without one, repeated rows would have no Cholesky factor
_RIDGE = 0.03
# a rejected row's diagonal entry in the Gram matrix is set to this, to make its direction zero
_STRUCK = 1e200


class RowFilter:
    """Accepts the rows of a matrix that add a direction to the rows before them (Eq. qr_filter).

    A row is accepted if its distance from the span of the rows before it is above two bounds:
    ``relative`` times the largest such distance, and ``floor`` > 0. The distances are the diagonal
    of a Cholesky factor. The filter takes up to ``most`` rows at once.
    """

    def __init__(
        self, relative: float, floor: float, most: int, device: torch.device, again: bool = True
    ) -> None:
        self._relative, self._floor, self._again = relative, floor, again
        unit = torch.eye(most, dtype=torch.float64, device=device)
        self._ridge = unit * (_RIDGE * floor) ** 2

    def directions(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the orthonormal directions [k, D] of the rows, and which are rejected, bool [k].

        Also returns the distance of each row from the span of all rows before it, float64 [k].

        A rejected row has the direction zero, and later rows are not made orthogonal to it: it is
        rounding noise. The first test uses the distance from all rows before. Near full rank it can
        reject a row that is near a rejected one only. So two more tests follow with ``again``, and
        on a CPU after a rejection: the distance from rows that passed the first, then the second.
        """
        wide, own = rows.double(), slice(len(rows))
        gram = torch.addmm(self._ridge[own, own], wide, wide.T)
        distance = torch.linalg.cholesky_ex(gram).L.diagonal()
        least = (self._relative * distance.max()).clamp(min=self._floor)
        rejected = distance <= least
        if self._again or _any_on_host(rejected):
            accepted = _without(gram.clone(), rejected).tril(-1)
            rejected = gram.diagonal() - accepted.square().sum(1) <= least.square()
            rejected |= _without(gram.clone(), rejected).diagonal() <= least
        factor = _without(gram, rejected)
        torch.linalg.solve_triangular(factor, wide, upper=False, out=wide)
        return wide.to(rows.dtype), rejected, distance


def _any_on_host(flags: Tensor) -> bool:
    """Return whether any of the flags is set.

    For flags on a GPU the answer is always False, because reading them would wait for the GPU.
    """
    # Not Tensor.numpy: the benchmark counts its calls as device-to-host syncs, even on a CPU.
    return flags.device.type == "cpu" and bool(np.from_dlpack(flags.view(torch.uint8)).any())


def _without(gram: Tensor, rejected: Tensor) -> Tensor:
    """Return the Cholesky factor of a Gram matrix [k, k] as if the rejected rows were absent.

    Overwrites the diagonal of ``gram`` at these rows.
    """
    gram.diagonal().masked_fill_(rejected, _STRUCK)
    return torch.linalg.cholesky_ex(gram).L


class GrowingBasis:
    """An orthonormal basis to which blocks of vectors are added.

    Each vector of a block adds a row, its new direction; a rejected vector adds a row of zeros. The
    basis takes at most ``capacity`` vectors in all and ``most`` in one block. ``relative`` and
    ``floor`` are those of :class:`RowFilter`. Once there are more rows than the width D, the zeros
    are removed, which costs a device-to-host sync per block. With D directions the basis is full.
    """

    is_full = False

    def __init__(
        self, like: Tensor, capacity: int, most: int, relative: float, floor: float
    ) -> None:
        self._width = like.shape[-1]
        self._used = 0  # number of rows in the basis, zero rows included
        # The second and third test of ``RowFilter.directions`` cost two factorizations per block.
        # They matter only near full rank.
        again = 2 * capacity > self._width
        self._filter = RowFilter(relative, floor, most, like.device, again)
        self._rejected: list[Tensor] = []  # bool [k] for every block: which vectors were rejected
        self._rows = like.new_empty(min(capacity, self._width + most), self._width)

    def remove_from(self, points: Tensor) -> Tensor:
        """Remove from ``points`` [n, D], in place, their projection on the basis."""
        rows = self._rows[: self._used]
        return points.addmm_(points @ rows.T, rows, alpha=-1.0) if len(rows) else points

    def directions(self, residuals: Tensor) -> Tensor:
        """Return the directions [k, D] that a block of vectors adds, for :meth:`extend`.

        ``residuals`` [k, D]: the vectors minus their projection on the basis.
        """
        found, rejected, _ = self._filter.directions(residuals)
        self._rejected.append(rejected)
        return found

    def add(self, residuals: Tensor) -> Tensor:
        """Add a block of vectors at once; return how far each is from the span of those before it.

        ``residuals`` [k, D]: as in :meth:`directions`. The distances are float64 [k].
        """
        found, rejected, distances = self._filter.directions(residuals)
        self._rejected.append(rejected)
        self.extend(found)
        return distances

    def vectors(self) -> Tensor:
        """Return the directions in the basis, without rows of zeros, [q, D]."""
        rows = self._rows[: self._used]
        return rows[torch.linalg.vector_norm(rows, dim=1) > 0.5][: self._width]

    def reject(self, count: int) -> None:
        """Record that ``count`` vectors were rejected because the basis is full."""
        self._rejected.append(torch.ones(count, dtype=torch.bool, device=self._rows.device))

    def extend(self, block: Tensor) -> None:
        """Append the directions ``block`` [k, D] that :meth:`directions` returned last.

        Their projection on the basis is removed once more: scaling small residuals to length 1
        magnifies their rounding errors.
        """
        rows, place = self._rows[: self._used], self._rows[self._used :][: len(block)]
        torch.addmm(block, block @ rows.T, rows, alpha=-1.0, out=place)
        self._used += len(block)
        if self._used > self._width:
            self._drop_zero_rows()

    def ranks(self, budgets: Sequence[int]) -> Tensor:
        """Return the number of accepted directions after each unit, int64 [T].

        ``budgets`` [T]: number of vectors that came from each unit.
        """
        accepted = ~torch.cat(self._rejected)
        total = torch.nn.functional.pad(accepted.cumsum(0), (1, 0))
        after = torch.tensor([*accumulate(budgets)], device=total.device)
        return total[after].clamp(max=self._width)

    def _drop_zero_rows(self) -> None:
        directions = self.vectors()
        self._used = len(directions)
        self._rows[: self._used] = directions
        self.is_full = self._used == self._width
