"""Uniform: tokens spread evenly over units, rows and columns, by a lattice that moves with time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_PLASTIC = 1.324717957244746  # real root of x^3 = x + 1: steps 1/p and 1/p^2 fill a square evenly


@dataclass(frozen=True)
class Uniform(Compressor):
    """A low-discrepancy lattice that looks at no feature.

    All units, all rows and all columns keep equally many tokens, to within one, over the clip. In
    one unit rows differ by at most one token and columns by at most two. Units take turns: they
    walk through one order of all positions, each going on where the one before stopped, so no
    position comes back before all others had their turn.

    >>> Uniform(0.5).compress(VideoTokens(torch.rand(24, 8), (2, 3, 4))).budgets.tolist()
    [6, 6]
    """

    name: ClassVar[str] = "uniform"
    title: ClassVar[str] = "Uniform"
    paper: ClassVar[str] = "baseline: even spacing in time and space"

    def _compress(self, tokens: VideoTokens) -> Compression:
        units, rows, columns = tokens.grid
        budget, per_unit = self.budget(tokens), rows * columns
        first = torch.arange(units + 1) * budget // units  # index of each unit's first pick
        unit = torch.repeat_interleave(torch.arange(units), first.diff())
        position = scattered_positions(rows, columns)[torch.arange(budget) % per_unit]
        keep = (unit * per_unit + position).sort().values
        return Compression.pruned(keep.to(tokens.features.device), tokens.grid)


def scattered_positions(rows: int, columns: int) -> Tensor:
    """int64 [rows * columns]: every grid position once, neighbours in the order far apart.

    Pick i takes row i modulo R and column i modulo C, both in a scattered order. That pair comes
    back after lcm(R, C) picks; from then on the columns are one further. So any R picks in a row
    hold every row once, and any start of the order has equally many of every row, and of every
    column, to within one.
    """
    pick = torch.arange(rows * columns)
    row = _scattered(rows, 1 / _PLASTIC)[pick % rows]
    shift = pick // math.lcm(rows, columns)
    column = _scattered(columns, 1 / _PLASTIC**2)[(pick + shift) % columns]
    return row * columns + column


def _scattered(count: int, step: float) -> Tensor:
    """int64 [count]: 0 to count - 1 in the order of the fractions of 0, step, 2 * step, ..."""
    fractions = (torch.arange(count, dtype=torch.float64) * step).frac()
    return fractions.argsort(stable=True).argsort()
