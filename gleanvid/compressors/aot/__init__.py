"""AOT: tokens are merged into the anchors of their unit, then later anchors into the first unit's.

The most salient tokens of a unit become its anchors, and the unit's other tokens are merged into
them by optimal transport. The video is cut into parts of neighbouring units. The anchors of a
part's later units are merged into those of its first unit; the anchors that fit worst are kept.

Li, Jiang, Zhang, Sebe, "Token Reduction via Local and Global Contexts Optimization for Efficient
Video Large Language Models" (CVPR 2026), https://arxiv.org/abs/2603.01400. Not ported: the choice
of anchors among patches before pooling; the attention of an early layer, by which the authors
choose the anchors of a spatial window; and parts cut where frames differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.aot.anchors import fractions_given, units_merged
from gleanvid.compressors.base import Compressor, setting
from gleanvid.compressors.settings import exact_setting
from gleanvid.compressors.shared.apportion import largest_remainder
from gleanvid.compressors.shared.blocks import even_bounds
from gleanvid.compressors.shared.ranking import ranks
from gleanvid.compressors.shared.records import Shares, identity_record, required, shared_record
from gleanvid.compressors.shared.segments import starts_of
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_SIDE = 3  # number of windows along each side of the grid


@dataclass(frozen=True)
class AOT(Compressor):
    """Merges tokens into anchors before the language model.

    The video is cut into ``clips`` parts. From each part the language model gets three sets of
    tokens: the anchors of the part's first temporal unit; the same anchors again, with the later
    units merged into them; and the anchors of later units that are least like those of the first.

    With ``exact`` the token budget is divided over the parts by their length. The number of anchors
    per unit is such that each later unit can keep about the fraction ``residual`` of its anchors.
    Without ``exact`` the retention ratio is not used, and the fraction ``anchors`` of each unit's
    tokens are anchors, rounded as in the authors' code for 32 or 64 frames in eight parts.
    """

    name: ClassVar[str] = "aot"
    title: ClassVar[str] = "AOT"
    paper: ClassVar[str] = "Li et al., CVPR 2026, https://arxiv.org/abs/2603.01400"
    licence: ClassVar[str] = "none stated"
    reported: ClassVar[str] = (
        "MVBench 58.7, 57.8, 57.0 and Video-MME 57.5, 56.6, 56.1 at 25, 15, 10 %: "
        "LLaVA-OneVision-7B (authors' logs)"
    )
    not_ported: ClassVar[str] = (
        "anchors of a window by attention in an early layer (here: in the last layer); "
        "choice of anchors before pooling; parts cut where frames differ"
    )
    merges: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset({"saliency"})

    clips: int = setting(
        8, "Number of equal parts that the clip is cut into", low=1, high=64, step=1
    )
    residual: float = setting(
        0.3,
        "Fraction of its anchors that each unit keeps, except the first unit of a part",
        low=0.0,
        high=1.0,
        step=0.05,
    )
    local: float = setting(
        0.5,
        "Fraction of the anchors chosen window by window, the others over the whole frame",
        low=0.0,
        high=1.0,
        step=0.05,
    )
    anchors: float = setting(
        0.17,
        "Fraction of a unit's tokens used as anchors (only if exact is off)",
        low=0.01,
        high=1.0,
        step=0.01,
    )
    exact: bool = exact_setting()

    def _compress(self, tokens: VideoTokens) -> Compression:
        units, per_unit = tokens.num_units, tokens.tokens_per_unit
        saliency = required(tokens, "saliency", "AOT").float().view(units, per_unit)
        features = tokens.features.float().view(units, per_unit, -1)
        if self.exact and self.budget(tokens) == len(tokens):
            return identity_record(tokens, {"saliency": saliency.flatten()})
        edges = pairwise(even_bounds(units, min(self.clips, units)))
        spans = [slice(first, stop) for first, stop in edges]
        counts = self._anchors(tokens, spans)
        chosen = self._chosen(saliency, torch.tensor(counts, device=saliency.device), tokens.grid)
        made_of = units_merged(features, chosen, tokens.grid)
        places = [torch.nonzero(unit).squeeze(1) for unit in chosen]
        parts = []
        for span, total in zip(spans, self._totals(tokens, spans), strict=True):
            for weights, place, twin in self._clip(features, made_of, places, span, total):
                row, source = torch.nonzero(weights).unbind(1)
                base = span.start * per_unit
                parts.append(Shares.of(place[row], base + source, weights[row, source], twin))
        trace = {"clip": starts_of(spans), "anchors": torch.tensor(counts)}
        return shared_record(tokens, parts, {"saliency": saliency.flatten()}, trace)

    def _totals(self, tokens: VideoTokens, spans: list[slice]) -> list[int | None]:
        """Return the number of output tokens of every part of the video.

        ``spans``: the units of each part. Without ``exact`` every number is None (no limit).
        """
        if not self.exact:
            return [None] * len(spans)
        lengths = [span.stop - span.start for span in spans]
        shares = torch.tensor(lengths, dtype=torch.float64)
        cap = max(lengths) * tokens.tokens_per_unit
        return list(largest_remainder(shares, self.budget(tokens), cap).tolist())

    def _anchors(self, tokens: VideoTokens, spans: list[slice]) -> list[int]:
        """Return the number of anchors of every unit. ``spans``: the units of each part."""
        per_unit = tokens.tokens_per_unit
        counts: list[int] = []
        for span, total in zip(spans, self._totals(tokens, spans), strict=True):
            length = span.stop - span.start
            if total is None:
                count = max(1, int(self.anchors * per_unit))
            elif length == 1 or total < 2:
                count = total
            else:  # each anchor of a part's first unit gives two output tokens
                wanted = math.floor(total / (2.0 + self.residual * (length - 1)))
                count = min(per_unit, max(wanted, math.ceil(total / (length + 1))))
            counts += [count] * length
        return counts

    def _chosen(self, saliency: Tensor, counts: Tensor, grid: tuple[int, int, int]) -> Tensor:
        """Return which tokens are anchors, bool [T, N]: the most salient ones of each unit.

        Unit t has ``counts[t]`` anchors. The fraction ``local`` of them is divided over the spatial
        windows: the most salient tokens of each. The others are the most salient tokens left.
        """
        window, number = _windows(grid[1], grid[2], saliency.device)
        nearby = (counts * self.local + 1e-9).long()
        each, local = nearby // number, torch.zeros_like(saliency, dtype=torch.bool)
        for place in range(number):
            own = window == place
            best = ranks(saliency.masked_fill(~own, float("-inf"))) < each[:, None]
            local |= best & own
        found = local.sum(dim=1)
        left = torch.maximum(
            counts - (found if self.exact else nearby), (found == 0) & (counts > 0)
        )
        return local | (ranks(saliency.masked_fill(local, float("-inf"))) < left[:, None])

    def _clip(
        self,
        features: Tensor,
        made_of: list[Tensor],
        places: list[Tensor],
        span: slice,
        total: int | None,
    ) -> Iterator[tuple[Tensor, Tensor, bool]]:
        """Yield the output tokens of one part of the video, the C units in ``span``.

        Each item describes n output tokens by three values: the weight of every token of the part
        in each output token, [n, C*N]; the flat index of each output token, [n]; and whether these
        indices were yielded before. ``made_of``: for every unit, the weights [V, N] of its tokens
        in its V anchors. ``places``: for every unit, the grid positions [V] of its anchors.
        ``total``: number of output tokens of the part with ``exact``, else None.
        """
        per_unit, length = features.shape[1], span.stop - span.start
        spread = [
            torch.nn.functional.pad(weights, (unit * per_unit, (length - 1 - unit) * per_unit))
            for unit, weights in enumerate(made_of[span])
        ]
        at = [
            span.start * per_unit + unit * per_unit + place
            for unit, place in enumerate(places[span])
        ]
        yield spread[0], at[0], False
        if length == 1 or total in (0, 1):
            return
        left = None if total is None else total - 2 * len(at[0])
        flat, merged = features[span].flatten(0, 1), spread[0]
        for unit in range(1, length):
            # [V, V]: fraction of each of this unit's anchors that goes to each of the first unit's
            fit = fractions_given(merged @ flat, spread[unit] @ flat, unit)
            best = fit.amax(dim=1)
            if left is None:
                stays = best < torch.quantile(best.double(), self.residual)
            else:
                number = -(-left // (length - unit))
                stays = ranks(-best) < number
                left -= number
            given = fit * ~stays[:, None]
            merged = (merged + given.T @ spread[unit]) / (1.0 + given.sum(dim=0)[:, None])
            yield spread[unit][stays], at[unit][stays], False
        yield merged, at[0], True


def _windows(rows: int, columns: int, device: torch.device) -> tuple[Tensor, int]:
    """Return the spatial window of each grid position, int64 [N], and the number of windows.

    The grid is cut into 3 x 3 windows, or fewer if it has fewer than 3 rows or columns.
    """
    down, across = min(_SIDE, rows), min(_SIDE, columns)
    places = [
        row * down // rows * across + column * across // columns
        for row in range(rows)
        for column in range(columns)
    ]
    return torch.tensor(places, device=device), down * across
