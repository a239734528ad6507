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
    """Chooses tokens by a low-discrepancy lattice, without looking at features.

    Over the clip, the numbers of tokens kept of any two units, rows or columns differ by at most
    one. Within a unit, rows differ by at most one token and columns by at most two. All positions
    are in one fixed order; each unit takes the next ones, so no position is used again before all
    others were.

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
    """List every grid position once, each far from the one before it: int64 [rows * columns].

    Pick i takes row i modulo R and column i modulo C of R rows and C columns, both in a scattered
    order. The same pair would come again after lcm(R, C) picks, so from there on columns are
    shifted by one. Any R consecutive picks contain every row once. In the first n picks, for any n,
    the numbers of picks of two rows, or of two columns, differ by at most one.
    """
    pick = torch.arange(rows * columns)
    row = _scattered(rows, 1 / _PLASTIC)[pick % rows]
    shift = pick // math.lcm(rows, columns)
    column = _scattered(columns, 1 / _PLASTIC**2)[(pick + shift) % columns]
    return row * columns + column


def _scattered(count: int, step: float) -> Tensor:
    """Return 0 to count - 1 in a scattered order, int64 [count].

    Element i is the rank of the fractional part of i * step among those of all elements.
    """
    fractions = (torch.arange(count, dtype=torch.float64) * step).frac()
    return fractions.argsort(stable=True).argsort()
