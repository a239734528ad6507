"""Quadtrees over the token grids of a clip: merge similar cells of a unit, then over time.

The cells of level 0 are single grid positions. A cell of every further level holds up to four cells
of the level below, its children.

Letters: T units, N positions, D width, C cells of a level, P pairs of cells of neighbouring units.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

_FULL = 4  # number of children of a cell that is not cut by the edge of the grid


@dataclass(frozen=True, eq=False)
class Level:
    """One quadtree level of a token grid; built on the host, to avoid device-to-host syncs."""

    cell: Tensor  # int64 [N]: number of the cell (row-major) that holds each position
    parent: Tensor  # int64 [C]: the cell of the level above that holds each cell
    corner: Tensor  # int64 [C]: first position in each cell
    share: Tensor  # [N]: weight of each position in its cell's mean, if all children weigh the same
    children: Tensor  # [C]: number of children of each cell


def levels_of(rows: int, columns: int, device: torch.device) -> list[Level]:
    """Return all quadtree levels of a grid, from single positions to one cell.

    From one level to the next, neighbouring rows of cells are joined in pairs, and so are columns.
    If the number of rows or columns is odd, the first one stays single.
    """
    sides, levels = (rows, columns), []
    places = [(row, column) for row in range(rows) for column in range(columns)]
    cell, share = list(range(len(places))), [1.0] * len(places)
    children = [1] * len(places)
    while True:
        odd, sides_above = [side % 2 for side in sides], [(side + 1) // 2 for side in sides]
        places = [((row + odd[0]) // 2, (column + odd[1]) // 2) for row, column in places]
        above = [row * sides_above[1] + column for row, column in places]
        corner, parent = [0] * (max(cell) + 1), [0] * (max(cell) + 1)
        for position in reversed(range(len(cell))):
            corner[cell[position]], parent[cell[position]] = position, above[position]
        layout = [torch.tensor(part, device=device) for part in (cell, parent, corner)]
        numbers = [torch.tensor(part, device=device).float() for part in (share, children)]
        levels.append(Level(*layout, *numbers))
        if len(corner) == 1:
            return levels
        children = [0] * (max(parent) + 1)
        for place in parent:
            children[place] += 1
        share = [part / children[place] for part, place in zip(share, above, strict=True)]
        sides, cell = (sides_above[0], sides_above[1]), above


class Trees:
    """The quadtrees of every unit of ``features`` [T, N, D].

    The roots are the cells of the last of ``levels``. The cosines between cells are computed once,
    so that :meth:`cut` can be called with many thresholds. With ``padded`` a cell with fewer than
    four children is also compared with the first cell of the level below, as in STTM's code.
    """

    def __init__(self, features: Tensor, levels: list[Level], padded: bool = False) -> None:
        self._levels, self._units = levels, len(features)
        self._per_unit = features.shape[1]
        means, unit = features, torch.nn.functional.normalize(features, dim=-1)
        # Single positions have no children to be compared with; 2.0 is above every threshold.
        self._lowest = [unit.new_full(unit.shape[:2], 2.0)]
        cells = [unit]
        for below, level in pairwise(levels):
            total = means.new_zeros(len(means), len(level.corner), means.shape[-1])
            means = total.index_add_(1, below.parent, means) / level.children[:, None]
            unit = torch.nn.functional.normalize(means, dim=-1)
            self._lowest.append(_lowest(cells[-1], unit, below, level, padded))
            cells.append(unit)
        self._pairs = [(a, b) for a in range(len(levels)) for b in range(len(levels))]
        unit_first = torch.arange(self._units, device=features.device)[:, None] * self._per_unit
        tokens = [unit_first + level.corner for level in levels]  # [T, C]: first token of each cell
        found = [torch.stack(self._facing(tokens, a, b)).flatten(1) for a, b in self._pairs]
        self._ends = torch.cat(found, dim=1)  # [2, P]: first tokens of the two cells of each pair
        self._cosine = torch.cat([self._alike(cells, a, b) for a, b in self._pairs])  # [P]

    def cut(self, spatial: float, temporal: float, complete: bool = True) -> tuple[Tensor, Tensor]:
        """Merge the tokens by two thresholds on cosines.

        From the roots down, a cell is kept whole if all its children have a cosine of at least
        ``spatial`` to it. Otherwise its children are considered. Whole cells of neighbouring units
        are then joined if one covers the positions of the other and their cosine is at least
        ``temporal``. The output token is the plain mean of the joined cells. Without ``complete``,
        cells that are connected only through others may stay apart; see :func:`labels_of`.

        Returns for every token the index of its output token, int64 [T*N], and its weight in it
        [T*N]. The index is that of the first position in the earliest of the joined cells.
        """
        leaves = self._leaves(spatial)
        place = torch.arange(self._units * self._per_unit, device=self._cosine.device)
        base = place.view(self._units, -1)[:, :1]
        node, share = place, self._cosine.new_ones(len(place))
        for level, leaf in zip(self._levels[1:], leaves[1:], strict=True):
            inside = leaf[:, level.cell].flatten()
            node = torch.where(inside, (base + level.corner[level.cell]).flatten(), node)
            share = torch.where(inside, level.share.repeat(self._units), share)
        both = [self._facing(leaves, a, b) for a, b in self._pairs]
        standing = torch.cat([(earlier & later).flatten() for earlier, later in both])
        ends = self._ends[:, standing & (self._cosine >= temporal)]
        home = labels_of(ends[0], ends[1], len(place), complete)[node]
        cells_of = torch.bincount(home[node == place], minlength=len(place))
        return home, share / cells_of[home]

    def _leaves(self, spatial: float) -> list[Tensor]:
        """Return which of the C cells of each level are kept whole: bool [T, C] for every level.

        These are the leaves of the trees when they are cut at the threshold ``spatial``.
        """
        alive = torch.ones_like(self._lowest[-1], dtype=torch.bool)
        leaves = []
        for number in reversed(range(len(self._levels))):
            leaf = alive & (self._lowest[number] >= spatial) if number else alive
            leaves.append(leaf)
            if number:
                alive = (alive & ~leaf)[:, self._levels[number - 1].parent]
        return leaves[::-1]

    def _facing(self, values: list[Tensor], a: int, b: int) -> tuple[Tensor, Tensor]:
        """Pair the cells of level a with overlapping cells of level b in the next unit.

        Of two such cells, one covers all positions of the other. ``values`` has a tensor
        [T, C, ...] for each level, with a value for each cell. Returns the values of the first and
        of the second cell of every pair, [T - 1, p, ...] for p pairs per unit.
        """
        up = self._levels[max(a, b)].cell[self._levels[min(a, b)].corner]
        earlier, later = values[a][:-1], values[b][1:]
        return (earlier[:, up], later) if a > b else (earlier, later[:, up])

    def _alike(self, cells: list[Tensor], a: int, b: int) -> Tensor:
        """Return the cosine of every pair of cells that :meth:`_facing` forms, one-dimensional."""
        earlier, later = self._facing(cells, a, b)
        return (earlier * later).sum(dim=-1).flatten()


def _lowest(below: Tensor, unit: Tensor, fine: Level, coarse: Level, padded: bool) -> Tensor:
    """Return for every cell of the level ``coarse`` the lowest cosine to its children, [T, C].

    ``unit`` [T, C, D]: mean features of the cells of ``coarse``, scaled to length 1. ``below``: the
    same for ``fine``, the level below. With ``padded`` a cell with fewer than four children is also
    compared with the first cell of ``fine``.
    """
    cosine = (below * unit[:, fine.parent]).sum(dim=-1)
    lowest = cosine.new_full(unit.shape[:2], 2.0)
    lowest = lowest.scatter_reduce(1, fine.parent.expand(len(unit), -1), cosine, "amin")
    if not padded:
        return lowest
    first = (unit * below[:, :1]).sum(dim=-1)
    return torch.where(coarse.children < _FULL, torch.minimum(lowest, first), lowest)


def labels_of(first: Tensor, second: Tensor, count: int, complete: bool = True) -> Tensor:
    """Label ``count`` items so that connected items share a label; return int64 [count].

    Items ``first[i]`` and ``second[i]`` are connected, int64 [P]. Every item starts with its index
    as label, and lower labels spread along the pairs. With ``complete`` they spread until all items
    that are connected, also through others, share a label. Without it, spreading stops as soon as
    ``label[label] == label``, and connected items may still have different labels.
    """
    label = torch.arange(count, device=first.device)
    while True:
        low = torch.minimum(label[first], label[second])
        label = label.scatter_reduce(0, first, low, "amin").scatter_reduce(0, second, low, "amin")
        label = label[label]
        settled = torch.equal(label, label[label])
        if settled and (not complete or torch.equal(label[first], label[second])):
            return label
