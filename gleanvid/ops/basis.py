"""Orthonormal basis of the kept tokens (Algorithm 2, lines 16-18).

Cholesky factors of small float64 Gram matrices take the place of tall QR factorizations, and
nothing is copied to the host.
Letters: k rows, D width, q rows of the basis.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from torch import Tensor

_RIDGE = 0.03  # relative to ``floor``: keeps the Cholesky factor of repeated rows finite
_STRUCK = 1e200  # diagonal entry of a rejected row: its direction underflows to zero


class RowFilter:
    """Accept the rows that add a direction to the rows before them (Eq. qr_filter).

    A row is accepted if its distance from the span of the rows before it is above ``relative``
    times the largest such distance, and above ``floor`` > 0. The distances are the diagonal of a
    Cholesky factor. Takes up to ``most`` rows at once.
    """

    def __init__(
        self, relative: float, floor: float, most: int, device: torch.device, again: bool = True
    ) -> None:
        self._relative, self._floor, self._again = relative, floor, again
        unit = torch.eye(most, dtype=torch.float64, device=device)
        self._ridge = unit * (_RIDGE * floor) ** 2

    def directions(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Orthonormal directions [k, D] of rows [k, D], zero where rejected; bool [k]: rejected.

        Only accepted rows take part: the direction of a rejected row is rounding noise, and no
        later row may lose what happens to lie along it. Rows are judged by their distances from
        all rows before them. Where hardly a direction is left, a rejected row may have one and
        hide it from all later rows: with ``again``, and always on a CPU, those rejected are judged
        again, by their distances from accepted rows alone, and those that return by their distances
        from each other.
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
        return wide.to(rows.dtype), rejected


def _any_on_host(flags: Tensor) -> bool:
    """Whether any is set; False for flags on a GPU: waiting for them would take longer."""
    # Not by Tensor.numpy, which is counted as a device-to-host sync that a GPU does not have here.
    return flags.device.type == "cpu" and bool(np.from_dlpack(flags.view(torch.uint8)).any())


def _without(gram: Tensor, rejected: Tensor) -> Tensor:
    """Cholesky factor of ``gram`` [k, k] without the rejected rows; overwrites its diagonal."""
    gram.diagonal().masked_fill_(rejected, _STRUCK)
    return torch.linalg.cholesky_ex(gram).L


class GrowingBasis:
    """An orthonormal basis that grows block by block; a rejected row takes a place, as zeros.

    At most ``capacity`` rows are taken in, ``most`` at once; ``relative`` and ``floor`` are those
    of :class:`RowFilter`. Once rows outnumber the width D, zero rows are dropped, at the cost of a
    device-to-host sync a block. With D rows left the basis is full: it explains everything.
    """

    is_full = False

    def __init__(
        self, like: Tensor, capacity: int, most: int, relative: float, floor: float
    ) -> None:
        self._width = like.shape[-1]
        self._used = 0  # number of rows used
        # A second judgement costs two factorizations per block; a small basis does not need it.
        again = 2 * capacity > self._width
        self._filter = RowFilter(relative, floor, most, like.device, again)
        self._rejected: list[Tensor] = []  # bool [k] of every block
        self._rows = like.new_empty(min(capacity, self._width + most), self._width)

    def remove_from(self, points: Tensor) -> Tensor:
        """Remove the projection on all rows from points [n, D], in place."""
        rows = self._rows[: self._used]
        return points.addmm_(points @ rows.T, rows, alpha=-1.0) if len(rows) else points

    def directions(self, residuals: Tensor) -> Tensor:
        """Directions [k, D] that residuals [k, D] of the basis add, to give to :meth:`extend`."""
        found, rejected = self._filter.directions(residuals)
        self._rejected.append(rejected)
        return found

    def reject(self, count: int) -> None:
        """Take in rows that add nothing, as all do once the basis is full."""
        self._rejected.append(torch.ones(count, dtype=torch.bool, device=self._rows.device))

    def extend(self, block: Tensor) -> None:
        """Append the last :meth:`directions` [k, D].

        They are projected once more: directions of small residuals magnify rounding errors.
        """
        rows, place = self._rows[: self._used], self._rows[self._used :][: len(block)]
        torch.addmm(block, block @ rows.T, rows, alpha=-1.0, out=place)
        self._used += len(block)
        if self._used > self._width:
            self._drop_zero_rows()

    def ranks(self, budgets: Sequence[int]) -> Tensor:
        """int64 [T]: accepted directions after every unit, with ``budgets`` rows from each."""
        accepted = ~torch.cat(self._rejected)
        total = torch.nn.functional.pad(accepted.cumsum(0), (1, 0))
        after = torch.tensor([*accumulate(budgets)], device=total.device)
        return total[after].clamp(max=self._width)

    def _drop_zero_rows(self) -> None:
        rows = self._rows[: self._used]
        directions = rows[torch.linalg.vector_norm(rows, dim=1) > 0.5][: self._width]
        self._used = len(directions)
        self._rows[: self._used] = directions
        self.is_full = self._used == self._width
