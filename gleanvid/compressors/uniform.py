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

# p, the real root of x^3 = x + 1: points i * (1/p, 1/p^2) modulo 1 fill a square evenly
_PLASTIC = 1.324717957244746


@dataclass(frozen=True)
class Uniform(Compressor):
    """Chooses tokens by a low-discrepancy lattice, without looking at features.

    All grid positions are in one fixed order (:func:`scattered_positions`). Each unit takes the
    next ones, so no position is used again before all others were. Over the clip, the numbers of
    tokens kept in two units, two grid rows or two grid columns differ by at most one. Within a
    unit, those of two rows differ by at most one, and those of two columns by at most two.

    >>> Uniform(0.5).compress(VideoTokens(torch.rand(24, 8), (2, 3, 4))).budgets.tolist()
    [6, 6]
    """

    name: ClassVar[str] = "uniform"
    title: ClassVar[str] = "Uniform"
    paper: ClassVar[str] = "baseline: even spacing in time and space"

    def _compress(self, tokens: VideoTokens) -> Compression:
        units, rows, columns = tokens.grid
        budget, per_unit = self.budget(tokens), rows * columns
        first = torch.arange(units + 1) * budget // units  # number of tokens kept before each unit
        unit = torch.repeat_interleave(torch.arange(units), first.diff())
        position = scattered_positions(rows, columns)[torch.arange(budget) % per_unit]
        keep = (unit * per_unit + position).sort().values
        return Compression.pruned(keep.to(tokens.features.device), tokens.grid)


def scattered_positions(rows: int, columns: int) -> Tensor:
    """Return all grid positions in an order that spreads them evenly, int64 [rows * columns].

    The R rows and the C columns are each put in a scattered order. Position i of the result is in
    row i modulo R and column i modulo C of these orders. The same pair would come again after
    lcm(R, C) positions, so the columns are shifted by one each time. Any R successive positions
    contain every row once. Among the first n positions, for any n, two rows, or two columns, differ
    by at most one in their number of positions.
    """
    pick = torch.arange(rows * columns)
    row = _scattered(rows, 1 / _PLASTIC)[pick % rows]
    shift = pick // math.lcm(rows, columns)
    column = _scattered(columns, 1 / _PLASTIC**2)[(pick + shift) % columns]
    return row * columns + column


def _scattered(count: int, step: float) -> Tensor:
    """Return the integers from 0 to count - 1 in a scattered order, int64 [count].

    Element i is the rank of frac(i * step) among frac(j * step) for all j from 0 to count - 1.
    """
    fractions = (torch.arange(count, dtype=torch.float64) * step).frac()
    return fractions.argsort(stable=True).argsort()
