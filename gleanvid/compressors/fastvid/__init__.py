"""FastVID: keep the salient tokens of each segment, and merge the others into dense centres.

The clip is cut into segments where neighbouring units differ most. In each segment part of the
budget goes to salient tokens of all units; the rest goes to dense centres in a few anchor units,
into which the segment's other tokens are merged.

Shen, Gong, He, Zhang, Liu, Zhao, Ding, "FastVID: Dynamic Density Pruning for Fast Video Large
Language Models" (NeurIPS 2025), https://arxiv.org/abs/2503.11187. Not ported: SigLIP's pooled frame
descriptor on LLaVA (the mean of a frame's tokens stands in, as for Qwen), newline handling, and the
unseeded noise on densities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.compressors.fastvid.centers import centers_of, topped_up
from gleanvid.compressors.fastvid.division import anchors_of, dealt
from gleanvid.compressors.settings import exact_setting
from gleanvid.compressors.shared.apportion import largest_remainder
from gleanvid.compressors.shared.ranking import most_similar, ranks
from gleanvid.compressors.shared.records import Shares, identity_record, required, shared_record
from gleanvid.compressors.shared.segments import (
    neighbour_cosines,
    spans_between,
    starts_of,
    weakest,
)
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_PUBLISHED = {  # variant -> defaults of the settings tau, context_share, beta, ignore
    "llava_onevision": (0.9, 0.4, 0.6, 1.0),
    "llava_video": (0.9, 0.4, 0.6, 1.0),
    "qwen2_5_vl": (0.84, 0.4, 0.6, 0.95),
    "qwen3_vl": (0.84, 0.5, 0.5, 0.99),
}
_OWN = "the variant's published value"


@dataclass(frozen=True)
class FastVID(Compressor):
    """Prunes and merges tokens before the language model.

    Output tokens are salient tokens, kept as they are, and context tokens: cluster centres with
    other tokens merged into them. A token may be merged into several centres. The authors' three
    variants differ in how they divide a segment's output tokens over its units, and in which tokens
    are merged. "qwen3_vl" is the port by VidCom2's authors; its saliency is the norm of a token.

    With ``exact`` the budget of B tokens is divided over the segments by length (largest
    remainder). If a variant uses less than a segment's part, the most salient tokens left in the
    segment are kept, too. Without them the Qwen variants would keep far fewer than B tokens of a
    clip whose frames repeat each other. Without ``exact`` token counts are rounded as in the
    authors' code, but to at least one per unit. Where that code fails, for example with fewer units
    than segments or with no salient tokens, the counts are lowered as far as needed.
    """

    name: ClassVar[str] = "fastvid"
    title: ClassVar[str] = "FastVID"
    paper: ClassVar[str] = "Shen et al., NeurIPS 2025, https://arxiv.org/abs/2503.11187"
    licence: ClassVar[str] = "MIT"
    reported: ClassVar[str] = (
        "98.0 % of the full performance at 10 % of the tokens: LLaVA-OneVision (abstract)"
    )
    not_ported: ClassVar[str] = (
        "SigLIP's pooled descriptor of a frame (here: the mean of its tokens)"
    )
    merges: ClassVar[bool] = True
    # The variant "qwen3_vl" needs no saliency.
    needs: ClassVar[frozenset[str]] = frozenset({"saliency"})

    variant: str = setting(
        "qwen3_vl",
        "Variant of FastVID, by the model it was published for",
        choices=tuple(_PUBLISHED),
    )
    min_segments: int = setting(8, "Minimum number of segments of the clip", low=1, high=64, step=1)
    tau: float | None = setting(
        None,
        "Cosine of neighbouring frames below which a segment ends",
        kind=float,
        low=-1.0,
        high=1.0,
        optional=_OWN,
        start=0.84,
    )
    context_share: float | None = setting(
        None,
        "Fraction of the kept tokens that are cluster centres",
        kind=float,
        low=0.0,
        high=1.0,
        optional=_OWN,
        start=0.5,
    )
    anchor_step: int = setting(
        4,
        "Step from one frame with cluster centres to the next (Qwen: in groups of similar frames)",
        low=1,
        high=64,
        step=1,
    )
    beta: float | None = setting(
        None,
        "Minimum weight of a cluster centre in its merged token",
        kind=float,
        low=0.0,
        high=1.0,
        optional=_OWN,
        start=0.5,
    )
    ignore: float | None = setting(
        None,
        "Minimum cosine of neighbouring frames in a group of similar frames (Qwen variants only)",
        kind=float,
        low=-1.0,
        high=1.0,
        optional=_OWN,
        start=0.99,
    )
    exact: bool = exact_setting()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant == "qwen3_vl":
            object.__setattr__(self, "needs", frozenset())

    def _compress(self, tokens: VideoTokens) -> Compression:
        features = tokens.features.float().view(tokens.num_units, tokens.tokens_per_unit, -1)
        if self.variant == "qwen3_vl":
            saliency = features.norm(dim=-1)
        else:
            saliency = required(tokens, "saliency", "FastVID").float().view(features.shape[:2])
        cosines = neighbour_cosines(features.mean(dim=1))
        cuts = weakest(cosines, self.min_segments - 1) | (cosines < self._value("tau"))
        spans = spans_between(cuts)
        totals = self._totals(tokens, spans)
        # int64 [2, T]: number of salient and of context tokens of each unit
        plan = torch.cat(
            [
                self._plan(total, cosines[span.start : span.stop - 1], tokens.tokens_per_unit)
                for total, span in zip(totals, spans, strict=True)
            ],
            dim=1,
        )
        scores = {"saliency": saliency.flatten()}
        trace = {"segment": starts_of(spans), "salient": plan[0], "context": plan[1]}
        if self.exact and sum(totals) == len(tokens):
            return identity_record(tokens, scores, trace)
        salient = ranks(saliency) < plan[0].to(saliency.device)[:, None]  # bool [T, N]: kept
        centers = centers_of(features, salient, plan[1])
        if self.exact:
            salient = topped_up(saliency, salient, centers, spans, totals)
        parts = [Shares.untouched(torch.nonzero(salient.flatten()).squeeze(1))]
        for span in spans:
            parts += [
                self._absorbed(features, salient, span, centers[unit])
                for unit in range(span.start, span.stop)
                if unit in centers
            ]
        return shared_record(tokens, parts, scores, trace)

    def _value(self, name: str) -> float:
        own = getattr(self, name)
        places = ("tau", "context_share", "beta", "ignore")
        return _PUBLISHED[self.variant][places.index(name)] if own is None else own

    def _totals(self, tokens: VideoTokens, spans: list[slice]) -> list[int]:
        """Return the number of output tokens of every segment."""
        lengths = [span.stop - span.start for span in spans]
        if not self.exact:
            per_unit = max(1, int(tokens.tokens_per_unit * self.retention_ratio))
            return [per_unit * length for length in lengths]
        shares = torch.tensor(lengths, dtype=torch.float64)
        cap = max(lengths) * tokens.tokens_per_unit
        return largest_remainder(shares, self.budget(tokens), cap).tolist()

    def _plan(self, total: int, cosines: Tensor, per_unit: int) -> Tensor:
        """Return the number of salient and of context tokens of a segment's units, int64 [2, L].

        The segment has L units and gives ``total`` output tokens. ``cosines`` [L-1]: cosines of
        neighbouring units. ``per_unit``: number of tokens of a unit.
        """
        length, step, share = len(cosines) + 1, self.anchor_step, self._value("context_share")
        context = int(total * share)
        if self.variant == "llava_onevision" and not self.exact:
            each = int(total // length * share)  # the authors' code rounds down here and below
            anchors = anchors_of(length, step)
            each_anchor = anchors.long() * (each * length // int(anchors.sum()))
            return torch.stack([torch.full((length,), total // length - each), each_anchor])
        if not self.variant.startswith("qwen"):
            return dealt(total - context, context, length, step)
        if total > 1 or self.variant == "qwen2_5_vl":
            context = min(total, max(1, context))
        if length == 1:
            return dealt(total - context, context, 1, step)
        ends = [*torch.nonzero(cosines < self._value("ignore")).flatten().tolist(), length - 1]
        salient_rows, context_rows = dealt(total - context, context, len(ends), step)
        context_rows = context_rows.clamp(max=per_unit // 2)
        plan = torch.zeros(2, length, dtype=torch.long)
        plan[1, ends] = context_rows
        plan[0, ends] = torch.minimum(salient_rows, per_unit - context_rows)
        return plan

    def _absorbed(self, features: Tensor, salient: Tensor, span: slice, centers: Tensor) -> Shares:
        """Merge the tokens of a segment into the cluster centres of one anchor frame.

        ``salient`` bool [T, N] marks tokens that are kept and not merged. ``centers``: flat token
        indices of the cluster centres.
        """
        open_ = torch.zeros_like(salient)
        open_[span] = ~salient[span]
        free = open_.flatten()
        if self.variant != "llava_onevision":
            free[centers] = False
        source = torch.nonzero(free).squeeze(1)
        rows = features.flatten(0, 1)
        joined = most_similar(rows[source], rows[centers])
        members = torch.bincount(joined, minlength=len(centers))
        own = (1.0 / (members + 1)).clamp(min=self._value("beta"))
        rest = (1.0 - own) / members.clamp(min=1)
        return Shares.of(
            torch.cat([centers, centers[joined]]),
            torch.cat([centers, source]),
            torch.cat([own, rest[joined]]),
        )
