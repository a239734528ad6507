"""FrameFusion: merge what repeats over time in the first layers, then prune once by attention.

In the first layers, a token that is like the one at the same position a frame before is merged into
that one. Then, once, the least attended of the remaining tokens are dropped.

Fu, Liu, Liu et al., "FrameFusion: Combining Similarity and Importance for Video Token Reduction on
Large Vision Language Models" (ICCV 2025), https://arxiv.org/abs/2501.01986. The original acts
between the attention and the MLP of a layer; a stage here acts before the next layer. It reads the
same attention rows, and the same tokens enter every layer; only the MLP before a stage also
processes the tokens that the stage then merges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.compressors.settings import num_layers_setting
from gleanvid.compressors.shared.ranking import descending, top_indices
from gleanvid.compressors.shared.records import identity_record, merge_record, required
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_MERGING, _PRUNING, FINISHED = 0, 1, 2
# stands for the cosine of the first token at a grid position, which has no predecessor
_FIRST = -2.0


@dataclass(frozen=True)
class FrameFusion(Compressor):
    """FrameFusion's stage, used at every layer; the compression record keeps its state.

    The state has three values. ``merge_ratios`` is the fraction merged at each layer so far.
    ``phase`` is 0 (merge), 1 (prune) or 2 (finished: later calls change nothing and may be
    skipped). ``entered`` is the number of tokens at layer 0. Each call reads the state from
    ``tokens.previous``, the record of the call before.

    ``retention_ratio`` is the average over ``num_layers``. With ``exact`` token counts are rounded
    down, so the ratio is never exceeded. Merging then ends at the last layer at which the ratio can
    still be met; there, tokens below ``similarity_bound`` are merged if necessary. ``ValueError``
    is raised if that is not enough. Without ``exact`` counts are rounded as in the authors' code,
    and the ratio may be exceeded.
    """

    name: ClassVar[str] = "framefusion"
    title: ClassVar[str] = "FrameFusion"
    paper: ClassVar[str] = "Fu et al., ICCV 2025, https://arxiv.org/abs/2501.01986"
    licence: ClassVar[str] = "MIT"
    reported: ClassVar[str] = (
        "1.6 to 3.6 times faster, under 3 % of performance lost at 30 % of the tokens (abstract)"
    )
    not_ported: ClassVar[str] = "acting between attention and MLP"
    merges: ClassVar[bool] = True
    queries: ClassVar[str] = "last"

    similarity_bound: float = setting(
        0.6,
        "Cosine above which a token merges into the previous token at its grid position",
        low=-1.0,
        high=1.0,
    )
    ratio_bound: float = setting(
        0.1,
        "Merging stops once a layer merges less than this fraction of its tokens",
        low=0.0,
        high=1.0,
        step=0.05,
    )
    query_rows: int = setting(
        1, "Number of last prompt tokens whose attention is averaged", low=1, high=64, step=1
    )
    num_layers: int = num_layers_setting()
    exact: bool = setting(True, "Never exceed the retention ratio, on average over the layers")

    @property
    def stages(self) -> tuple[tuple[int, Compressor], ...]:
        return tuple((layer, self) for layer in range(self.num_layers))

    def _compress(self, tokens: VideoTokens) -> Compression:
        ratios, phase, entered = _before(tokens)
        if phase == FINISHED or (self.exact and self.retention_ratio == 1.0):
            return replace(identity_record(tokens), state=_state(ratios, FINISHED, entered))
        left = self._rows_left(ratios, entered)
        if phase == _PRUNING:
            return self._prune(tokens, ratios, entered, left)
        return self._merge(tokens, ratios, entered, left)

    def _rows_left(self, ratios: list[float], entered: int) -> float:
        """Return how many visual tokens each remaining layer may see to meet the retention ratio.

        ``ratios``: fraction of its tokens that each layer so far has merged. ``entered``: number of
        tokens at layer 0. Raises ``ValueError`` if the layers so far alone exceed the ratio.
        """
        spent, share = 0.0, 1.0
        for ratio in ratios:
            share *= 1.0 - ratio
            spent += share
        budget = self.num_layers * self.retention_ratio - spent
        if budget < 0:
            raise ValueError(
                f"retention_ratio={self.retention_ratio!r} is out of reach for FrameFusion: "
                f"the first layers alone already make it {spent / self.num_layers:.3f}"
            )
        return entered * budget / (self.num_layers - len(ratios))

    def _merge(
        self, tokens: VideoTokens, ratios: list[float], entered: int, left: float
    ) -> Compression:
        rows = len(tokens)
        order, similarity = _column_similarity(tokens)
        close = similarity >= self.similarity_bound
        count = int(close.sum())
        surplus = self._surplus(rows, left)
        if count / rows < surplus / rows and self._affordable(rows - count, left, len(ratios)):
            merged, ratios = close, [*ratios, count / rows]
            phase = _PRUNING if count / rows < self.ratio_bound else _MERGING
        else:
            if surplus > int((similarity > _FIRST).sum()):
                if tokens.attention is not None:
                    return self._prune(tokens, ratios, entered, left)
                raise ValueError(
                    f"retention_ratio={self.retention_ratio!r} is out of reach for FrameFusion "
                    "without attention, which pruning needs: merging alone leaves at least "
                    f"{1 / tokens.num_units:.3f} of this video"
                )
            merged = torch.zeros_like(close)
            merged[descending(similarity)[: int(surplus)]] = True
            phase = FINISHED
        home, weight = _absorb(order, merged)
        scores = {"similarity": torch.empty_like(similarity).scatter_(0, order, similarity)}
        record = merge_record(tokens, home, weight, scores)
        return replace(record, state=_state(ratios, phase, entered))

    def _surplus(self, rows: int, left: float) -> float:
        """Return how many tokens to drop now: an integer with ``exact``, else a float."""
        if not self.exact:
            return (1.0 - min(1.0, left / rows)) * rows
        return rows - min(rows, max(1, math.floor(left + 1e-6)))

    def _affordable(self, rows: int, left: float, layer: int) -> bool:
        """Return whether each later layer could still see a token if this one sees ``rows`` tokens.

        The limit is the retention ratio. Without ``exact``, the result is always true; with
        ``exact``, it is false at the last layer. ``left``: see :meth:`_rows_left`.
        """
        after = self.num_layers - layer - 1
        return not self.exact or (after > 0 and left * (after + 1) - rows >= after)

    def _prune(
        self, tokens: VideoTokens, ratios: list[float], entered: int, left: float
    ) -> Compression:
        attention = required(tokens, "attention", "FrameFusion").float()
        if attention.shape[1] < self.query_rows:
            raise ValueError(
                f"query_rows={self.query_rows} must be in [1, {attention.shape[1]}], "
                "the number of attention rows available"
            )
        # [L]: attention of the last ``query_rows`` prompt tokens to each visual token
        score = attention[:, -self.query_rows :].mean(dim=(0, 1))
        rows = len(tokens)
        share = 1.0 - (1.0 - min(1.0, left / rows))
        kept = rows - int(self._surplus(rows, left)) if self.exact else round(rows * share)
        keep = top_indices(score, kept)
        record = Compression.pruned(keep, tokens.grid, {"attention": score}, num_tokens=rows)
        return replace(record, state=_state(ratios, FINISHED, entered))


def _before(tokens: VideoTokens) -> tuple[list[float], int, int]:
    """Return the state that the call before left: merge ratios, phase, tokens at layer 0.

    It is read from ``tokens.previous``. Without one, return the state before the first merge.
    """
    previous = tokens.previous
    if previous is None or "merge_ratios" not in previous.state:
        return [], _MERGING, len(tokens)
    state = previous.state
    return state["merge_ratios"].tolist(), int(state["phase"]), int(state["entered"])


def _state(ratios: list[float], phase: int, entered: int) -> dict[str, Tensor]:
    return {
        "merge_ratios": torch.tensor(ratios, dtype=torch.float64),
        "phase": torch.tensor(phase),
        "entered": torch.tensor(entered),
    }


def _column_similarity(tokens: VideoTokens) -> tuple[Tensor, Tensor]:
    """Sort the tokens by grid position, then by time, and compare each with the one before.

    Returns the order, int64 [L], and in this order the cosine [L] of each token to the one before.
    The first token at a grid position has ``_FIRST`` instead.
    """
    features = tokens.features.float()
    place = torch.arange(len(features), device=features.device)
    place = place if tokens.positions is None else tokens.positions.to(features.device)
    column = place % tokens.tokens_per_unit
    order = torch.sort(column * tokens.num_units + place // tokens.tokens_per_unit).indices
    unit = torch.nn.functional.normalize(features[order], dim=-1)
    similarity = torch.full((len(order),), _FIRST, device=features.device)
    cosine = (unit[1:] * unit[:-1]).sum(dim=-1)
    same = column[order][1:] == column[order][:-1]
    similarity[1:] = torch.where(same, cosine, similarity[1:])
    return order, similarity


def _absorb(order: Tensor, merged: Tensor) -> tuple[Tensor, Tensor]:
    """Merge each token marked in ``merged`` into the last unmarked one before it in ``order``.

    Returns for every token the index of the token into which it is merged (its own if it is not),
    int64 [L], and its weight [L] in the average of the tokens merged there.
    """
    place = torch.arange(len(order), device=order.device)
    leader = torch.where(merged, 0, place).cummax(dim=0).values
    home = torch.empty_like(order)
    home[order] = order[leader]
    return home, 1.0 / torch.bincount(home, minlength=len(home))[home]
