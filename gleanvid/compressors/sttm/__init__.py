"""STTM: quadtrees in space, then cells at the same place merge over time.

The grid of every unit is a quadtree, and a cell whose four parts are alike becomes one token. Cells
at the same position in neighbouring units are merged if they are alike.

Hyun, Hwang, Han et al., "Multi-Granular Spatio-Temporal Token Merging for Training-Free
Acceleration of Video LLMs" (ICCV 2025), https://arxiv.org/abs/2507.07990. Unlike the authors' code,
this one does not renumber positions, and lacks the slower variant in which a cell joins only its
most similar neighbour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.compressors.settings import exact_setting, num_layers_setting
from gleanvid.compressors.shared.depth import rows_for_average
from gleanvid.compressors.shared.ranking import top_indices
from gleanvid.compressors.shared.records import identity_record, merge_record
from gleanvid.compressors.sttm.quadtree import Level, Trees, levels_of
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_HALVINGS = 20  # bisection steps for the factor that scales both allowed distances
_APART = 2.1  # an allowed distance above any 1 - cosine: everything is merged


@dataclass(frozen=True)
class STTM(Compressor):
    """Merges tokens by features alone, before the language model or before its ``layer``.

    In the authors' code the number of output tokens depends on the video and two thresholds, not on
    a ratio. With ``exact`` the allowed distances, 1 - threshold, are scaled by one factor until at
    most B output tokens are left, B being the budget. Then the tokens least like the mean into
    which they are merged are taken out and kept alone, until there are B. If a unit has more than B
    quadtree roots, larger cells are used as roots.

    Without ``exact`` the thresholds are used as they are, and ``retention_ratio`` is not used. Two
    details are then as in the authors' code. Cells at the edges of odd grids are also compared with
    the first cell of the unit. Cells that are connected only through others may stay unmerged.
    """

    name: ClassVar[str] = "sttm"
    title: ClassVar[str] = "STTM"
    paper: ClassVar[str] = "Hyun et al., ICCV 2025, https://arxiv.org/abs/2507.07990"
    licence: ClassVar[str] = "none stated"
    reported: ClassVar[str] = (
        "2 times faster, 0.5 % of accuracy lost at 50 % of the tokens; "
        "3 times faster, 2 % lost at 30 % of the tokens (abstract)"
    )
    not_ported: ClassVar[str] = (
        "means weighted by cell size, cosines per attention head, renumbered positions, the slower "
        "variant in which a cell joins only its most similar neighbour"
    )
    merges: ClassVar[bool] = True

    spatial_threshold: float = setting(
        0.85,
        "Minimum cosine of a spatial cell to all its parts for it to become one token",
        low=-1.0,
        high=0.99,
        step=0.01,
    )
    temporal_threshold: float = setting(
        0.55,
        "Cosine above which cells of neighbouring temporal units are merged",
        low=-1.0,
        high=0.99,
        step=0.01,
    )
    root_level: int = setting(
        1,
        "Number of levels by which tree roots are finer than the coarsest quadtree level",
        low=0,
        high=4,
        step=1,
    )
    layer: int = setting(
        0,
        "Language-model layer before which tokens are merged (authors: 2 for 7B models, 0 for 72B)",
        low=0,
        high=127,
        step=1,
    )
    num_layers: int = num_layers_setting()
    exact: bool = exact_setting()

    @property
    def stages(self) -> tuple[tuple[int, Compressor], ...]:
        return ((self.layer, self),)

    def _compress(self, tokens: VideoTokens) -> Compression:
        features = tokens.features.float().view(tokens.num_units, tokens.tokens_per_unit, -1)
        levels = levels_of(tokens.grid[1], tokens.grid[2], features.device)
        root = self._root(tokens.grid)
        if not self.exact:
            trees = Trees(features, levels[: root + 1], padded=True)
            home, weight = trees.cut(self.spatial_threshold, self.temporal_threshold, False)
            return merge_record(tokens, home, weight)
        count = self._count(tokens)
        if count >= len(tokens):
            return identity_record(tokens)
        home, weight, scale = self._met(features, levels, root, count)
        home, weight = _with_singles(features.flatten(0, 1), home, weight, count)
        return merge_record(tokens, home, weight, trace={"scale": torch.tensor(scale)})

    def _count(self, tokens: VideoTokens) -> int:
        """Return the number of output tokens with ``exact``."""
        if not self.layer:
            return self.budget(tokens)
        total, depth = len(tokens), (self.layer, self.num_layers)
        return rows_for_average(total, total, self.retention_ratio, *depth, "STTM")

    def _root(self, grid: tuple[int, int, int]) -> int:
        """Return the quadtree level of the roots.

        Level 0 has one token per cell, and each further level has larger cells. The roots are
        ``root_level`` levels finer than the first level with at most two cells on the shorter side.
        """
        rows, columns, level = grid[1], grid[2], 0
        while min(rows, columns) > 2:
            rows, columns, level = (rows + 1) // 2, (columns + 1) // 2, level + 1
        return max(0, level - self.root_level)

    def _met(
        self, features: Tensor, levels: list[Level], root: int, count: int
    ) -> tuple[Tensor, Tensor, float]:
        """Merge the tokens into as many output tokens as possible, but at most ``count``.

        Returns for every token the index of the token into which it is merged, int64 [L], and its
        weight there [L]. Also returns the factor by which the allowed distances were scaled.
        ``root``: level of the quadtree roots, raised if a unit has more than ``count`` of them.
        """
        while len(levels[root].corner) > count:
            root += 1
        trees = Trees(features, levels[: root + 1])
        apart = (1.0 - self.spatial_threshold, 1.0 - self.temporal_threshold)
        # Bounds of the bisection: at the lower one nothing is merged, at the upper one everything.
        low, high = 0.0, _APART / min(apart)
        best = trees.cut(1.0 - high * apart[0], 1.0 - high * apart[1])
        for _ in range(_HALVINGS):
            scale = (low + high) / 2
            found = trees.cut(1.0 - scale * apart[0], 1.0 - scale * apart[1])
            if _rows(found[0]) > count:
                low = scale
            else:
                high, best = scale, found
        return *best, high


def _rows(home: Tensor) -> int:
    return int((home == torch.arange(len(home), device=home.device)).sum())


def _with_singles(
    features: Tensor, home: Tensor, weight: Tensor, count: int
) -> tuple[Tensor, Tensor]:
    """Keep some merged tokens unmerged instead, so that there are ``count`` output tokens.

    They are the tokens of ``features`` [L, D] least like the mean into which they are merged.
    Returns ``home`` int64 [L], the index of the token into which each token is merged, and
    ``weight`` [L], the weight of each token there.
    """
    place = torch.arange(len(home), device=home.device)
    missing = count - _rows(home)
    rows = torch.zeros_like(features).index_add_(0, home, features * weight[:, None])
    distance = 1.0 - torch.nn.functional.cosine_similarity(features, rows[home], dim=-1)
    alone = top_indices(distance.masked_fill(home == place, float("-inf")), missing)
    home = home.index_put((alone,), alone)
    weight = weight.index_put((alone,), weight.new_ones(()))
    return home, weight / torch.zeros_like(weight).index_add_(0, home, weight)[home]
