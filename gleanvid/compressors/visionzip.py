"""VisionZip: the tokens the encoder attends to, and merged anchors for the rest.

The tokens that the vision tower attends to most stay as they are. Of the others, evenly spaced ones
become anchors, and every remaining token is merged into the anchor that is most like it.

Yang, Chen, Tian, Wang, Li, Yu, Jia, "VisionZip: Longer is Better but Not Necessary in Vision
Language Models" (CVPR 2025), https://arxiv.org/abs/2412.04467. The Qwen3-VL port that produced the
published results writes features to the wrong positions; this error is not reproduced.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.compressors.settings import exact_setting
from gleanvid.compressors.shared.apportion import largest_remainder
from gleanvid.compressors.shared.ranking import most_similar, ranks, top_indices
from gleanvid.compressors.shared.records import merge_record, required
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

# number of largest cosines averaged for the density of a token, in variant "qwen3_port"
_NEIGHBOURS = 5
_CHUNK = 1024  # number of rows of the cosine matrix that are held in memory at a time


@dataclass(frozen=True)
class VisionZip(Compressor):
    """Dominant tokens by received attention; every other token joins a contextual anchor.

    ``variant`` "frame" works unit by unit. Its anchors are evenly spaced, and tokens are compared
    by the vision encoder's attention keys. The output is the anchor **plus** the mean of the tokens
    that join it (weights sum to 2); with ``true_mean`` it is the mean of all of them.

    "cls" differs from "frame" only without ``exact``: it keeps one dominant token less per unit, in
    place of a [CLS] token, which is not a visual token. "qwen3_port", the published Qwen3-VL port,
    works on the whole video, chooses anchors by feature density, and averages each with its tokens.
    """

    name: ClassVar[str] = "visionzip"
    title: ClassVar[str] = "VisionZip"
    paper: ClassVar[str] = "Yang et al., CVPR 2025, https://arxiv.org/abs/2412.04467"
    licence: ClassVar[str] = "Apache-2.0"
    reported: ClassVar[str] = "prefill 8 times faster, 5 % ahead of earlier methods (abstract)"
    not_ported: ClassVar[str] = "the [CLS] row of towers that have one"
    merges: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset({"saliency", "keys"})

    variant: str = setting(
        "frame",
        "Variant of VisionZip: per frame, with a [CLS] token, or its Qwen3-VL port",
        choices=("frame", "cls", "qwen3_port"),
    )
    true_mean: bool = setting(
        False, "Average an anchor with its merged tokens instead of adding them"
    )
    exact: bool = exact_setting()

    def _compress(self, tokens: VideoTokens) -> Compression:
        if self.variant == "qwen3_port":
            return self._whole_video(tokens)
        units, per_unit = tokens.num_units, tokens.tokens_per_unit
        saliency = required(tokens, "saliency", "VisionZip").float().view(units, per_unit)
        keys = required(tokens, "keys", "VisionZip").float().view(units, per_unit, -1)
        budgets = self._budgets(tokens).to(saliency.device)
        dominant_count = budgets * 54 // 64  # the authors' split: 54 of 64 tokens are dominant
        contextual_count = budgets - dominant_count
        if self.variant == "cls" and not self.exact:
            dominant_count = (dominant_count - 1).clamp(min=0)
        dominant = ranks(saliency) < dominant_count[:, None]  # bool [T, N]
        anchors = _spaced_anchors(~dominant, contextual_count)
        home, weight = _assign(keys, dominant, anchors, self.true_mean)
        trace = {"dominant": dominant_count, "contextual": contextual_count}
        scores = {"saliency": saliency.flatten()}
        return merge_record(tokens, home, weight, scores, trace)

    def _budgets(self, tokens: VideoTokens) -> Tensor:
        """Return the number of output tokens of every unit, int64 [T]."""
        units, per_unit = tokens.num_units, tokens.tokens_per_unit
        if self.exact:
            return largest_remainder(torch.ones(units), self.budget(tokens), per_unit)
        return torch.full((units,), int(self.retention_ratio * per_unit))

    def _whole_video(self, tokens: VideoTokens) -> Compression:
        """Compress the whole video at once, as the Qwen3-VL port does.

        60 % of the output tokens are dominant. The others are anchors: the densest remaining
        tokens, each averaged with the tokens that are most like it.
        """
        saliency = required(tokens, "saliency", "VisionZip").float()
        total = self.budget(tokens)
        count = max(1, int(total * 0.6))
        units = torch.nn.functional.normalize(tokens.features.float(), dim=-1)  # [L, D]
        keep = top_indices(saliency, count)
        home = keep.new_full((len(tokens),), -1)
        home[keep] = keep
        rest = torch.nonzero(home < 0).squeeze(1)
        if total > count:
            density = _density(units[rest])
            anchors = rest[top_indices(density, total - count)]
            home[rest] = anchors[most_similar(units[rest], units[anchors])]
            home[anchors] = anchors
        members = torch.bincount(home[home >= 0], minlength=len(tokens)).float()
        weight = 1.0 / members[home.clamp(min=0)]
        return merge_record(tokens, home, weight, {"saliency": saliency})


def _spaced_anchors(rest: Tensor, counts: Tensor) -> Tensor:
    """Choose evenly spaced anchors among the tokens marked in ``rest`` bool [T, N].

    ``counts`` [T]: number of anchors of each unit. If a unit has n marked tokens, every step-th of
    them is an anchor, step = max(1, n // count). Returns which tokens are anchors, bool [T, N].
    """
    place = rest.long().cumsum(dim=1) - 1
    step = (rest.sum(dim=1) // counts.clamp(min=1)).clamp(min=1)[:, None]
    return rest & (place % step == 0) & (place // step < counts[:, None])


def _assign(
    keys: Tensor, dominant: Tensor, anchors: Tensor, true_mean: bool
) -> tuple[Tensor, Tensor]:
    """Assign every token that is neither dominant nor an anchor to the anchor most like it.

    ``keys`` [T, N, D] are compared within each unit. Returns for every token the flat index of the
    token into which it is merged, int64 [T*N], and its weight there [T*N]. The index is the token's
    own if it is kept, and -1 (dropped) if its unit has no anchor.
    """
    units, per_unit, width = keys.shape
    widest = int(anchors.sum(dim=1).max())
    index = torch.arange(per_unit, device=keys.device).expand(units, per_unit)
    home = torch.where(dominant | anchors, index, -1)
    if widest:
        # [T, C]: positions of the up to C anchors of each unit
        places = torch.where(anchors, index, per_unit).sort(dim=1).values[:, :widest]
        absent = places == per_unit
        places = places.clamp(max=per_unit - 1)
        unit_keys = torch.nn.functional.normalize(keys, dim=-1)
        chosen = unit_keys.gather(1, places[..., None].expand(-1, -1, width))
        # [T, N, C]: cosine of each token to each anchor of its unit
        cosine = torch.bmm(unit_keys, chosen.transpose(1, 2))
        nearest = cosine.masked_fill(absent[:, None, :], float("-inf")).argmax(dim=2)
        joined = places.gather(1, nearest)
        has_anchor = ~absent[:, :1]
        home = torch.where((home < 0) & has_anchor, joined, home)
    base = torch.arange(units, device=keys.device)[:, None] * per_unit
    flat = torch.where(home >= 0, home + base, -1).flatten()
    size = torch.bincount(flat[flat >= 0], minlength=units * per_unit)[flat.clamp(min=0)]
    if true_mean:
        return flat, 1.0 / size
    member = (~(dominant | anchors)).flatten()
    return flat, torch.where(member, 1.0 / (size - 1).clamp(min=1), 1.0)


def _density(units: Tensor) -> Tensor:
    """Return the density [n] of each of n unit vectors [n, D].

    It is the mean cosine to the ``_NEIGHBOURS`` other vectors that are most similar.
    """
    near = min(_NEIGHBOURS + 1, len(units))
    parts = [(part @ units.T).topk(near, dim=1).values for part in units.split(_CHUNK)]
    return torch.cat(parts)[:, 1:].sum(dim=1) / max(near - 1, 1)
