"""Orthonormal rows from rows that may repeat one another, without waiting for the device.

Cholesky factors of small float64 Gram matrices take the place of tall QR factorizations.
Letters: k rows, D width, q rows of a basis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

_RIDGE = 0.03  # of the floor: keeps the factor of repeated rows finite, far below what counts
_STRUCK = 1e200  # on the diagonal: the row's direction, and its part in others, underflow to zero
_DEPENDENT = 1e-14  # of a row's square: float32 holds nothing smaller


def outside(rows: Tensor, basis: Tensor) -> Tensor:
    """What an orthonormal ``basis`` [q, D], which may hold zero rows, leaves of rows [k, D]."""
    return torch.addmm(rows, rows @ basis.T, basis, alpha=-1.0) if len(basis) else rows


def orthonormalised(rows: Tensor) -> Tensor:
    """Rows [k, D] with the same span; one that depends on others gets no longer than one."""
    wide = rows.double()
    gram = wide @ wide.T
    gram.diagonal().mul_(1 + _DEPENDENT).add_(1e-280)  # above zero for rows of nothing
    factor = torch.linalg.cholesky_ex(gram).L
    return torch.linalg.solve_triangular(factor, wide, upper=False).to(rows.dtype)


class RowFilter:
    """Orthonormal directions of those rows that add something (Eq. qr_filter).

    A row is accepted if its distance from the rows before it passes ``relative`` times the largest
    such distance and ``floor`` > 0. The distances are the diagonal of a Cholesky factor. Takes up
    to ``most`` rows.
    """

    def __init__(self, relative: float, floor: float, most: int, device: torch.device) -> None:
        self._relative, self._floor = relative, floor
        unit = torch.eye(most, dtype=torch.float64, device=device)
        self._ridge = unit * (_RIDGE * floor) ** 2

    def directions(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Of rows [k, D]: directions [k, D], zero where rejected, and which are rejected [k].

        Accepted rows are made orthogonal among themselves alone. A rejected row's direction is
        rounding noise: no later row may lose what happens to lie along it.
        """
        wide, own = rows.double(), slice(len(rows))
        gram = torch.addmm(self._ridge[own, own], wide, wide.T)
        factor, rejected = struck_factor(gram, self._relative, self._floor)
        torch.linalg.solve_triangular(factor, wide, upper=False, out=wide)
        return wide.to(rows.dtype), rejected


def struck_factor(gram: Tensor, relative: float, floor: float) -> tuple[Tensor, Tensor]:
    """Cholesky factor of a Gram matrix [k, k] whose rejected rows are struck out; and these [k].

    Overwrites the diagonal of ``gram``.
    """
    distance = torch.linalg.cholesky_ex(gram).L.diagonal()
    rejected = distance <= (relative * distance.max()).clamp(min=floor)
    gram.diagonal().masked_fill_(rejected, _STRUCK)
    return torch.linalg.cholesky_ex(gram).L, rejected


class GrowingBasis:
    """An orthonormal basis that takes in rows block by block and reads nothing back.

    At most ``capacity`` rows of a width are taken in, ``most`` at once; ``relative`` and ``floor``
    are those of :class:`RowFilter`. The basis never holds more directions than the width.
    """

    def __init__(
        self, like: Tensor, capacity: int, most: int, relative: float, floor: float
    ) -> None:
        self.width = like.shape[-1]
        self.rejected: list[Tensor] = []  # bool [k] of every block
        self._filter = RowFilter(relative, floor, most, like.device)
        self.capacity = min(capacity, self.width + most)
        self.used = 0  # rows that may hold a direction; rejected ones are zero
        self.moved = False  # whether rows have changed their places
        self._rows = like.new_empty(self.capacity, self.width)

    def rows(self, start: int) -> Tensor:
        """Those from ``start`` on."""
        return self._rows[start : self.used]

    def remove_from(self, rows: Tensor, first: int | None = None) -> Tensor:
        """What the basis, or its ``first`` rows, leave of rows [k, D], written in their place."""
        basis = self._rows[: self.used][:first]
        return rows.addmm_((basis @ rows.T).T, basis, alpha=-1.0) if len(basis) else rows

    def accepted(self, residual: Tensor) -> Tensor:
        """Directions [k, D] of rows that lie outside the basis; zero where they are rejected."""
        found, rejected = self._filter.directions(residual)
        self.rejected.append(rejected)
        return found

    def extend(self, found: Tensor) -> None:
        """Add the last :meth:`accepted` directions [k, D].

        They are projected once more: those of small rows magnify what rounding left.
        """
        after = self.used + len(found)
        basis, place = self._rows[: self.used], self._rows[self.used : after]
        torch.addmm(found, found @ basis.T, basis, alpha=-1.0, out=place)
        self.used = after
        if self.used > self.width:
            self._drop_rejected()

    def _drop_rejected(self) -> None:
        """Move the rows that hold a direction to the front and keep as many as the width."""
        is_direction = torch.linalg.vector_norm(self._rows[: self.used], dim=1) > 0.5
        front = is_direction.sort(descending=True, stable=True).indices[: self.width]
        self._rows[: self.width] = self._rows[front]
        self.used, self.moved = self.width, True
