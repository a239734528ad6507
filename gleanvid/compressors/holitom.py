"""HoliTom: average still positions over windows of frames, then prune and merge the rest.

Windows of units are chosen so that averaging the positions that do not change saves most tokens.
The rest is pruned by saliency, and similar tokens are merged; with the inner stage, the least
attended tokens are merged inside the language model too.

Shao, Tao, Qin, You, Sui, Wang, "HoliTom: Holistic Token Merging for Fast Video Large Language
Models" (NeurIPS 2025), https://arxiv.org/abs/2505.21334. Not ported: the fraction of dynamic
tokens chosen by density peaks; in the original any value but its default 0 raises an error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import setting
from gleanvid.compressors.settings import exact_setting, num_layers_setting
from gleanvid.compressors.shared.density_peaks import density_peaks
from gleanvid.compressors.shared.ranking import most_similar, ranks, top_indices
from gleanvid.compressors.shared.records import identity_record, merge_record, required
from gleanvid.compressors.shared.windows import Windows, exact_counts, with_singles
from gleanvid.compressors.two_stage import InnerStage, TwoStage
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_NEIGHBOURS = 7


@dataclass(frozen=True)
class HoliTom(TwoStage):
    """Outer stage before the model; with ``inner`` also :class:`HoliTomMerge` before layer K.

    K is the setting ``layer``. Averaging leaves two kinds of sets: the static set of a window (its
    averages over time) and the dynamic set of a unit (its other tokens). With ``exact`` the budget
    of B tokens is divided over these sets by largest remainder. If a still video has fewer than B
    tokens after averaging, the most salient tokens that repeat an earlier one are kept unmerged;
    the authors' code keeps fewer than B. With ``inner`` the budget of the outer stage is raised, so
    that the average over the layers is the retention ratio. Without ``exact`` numbers are rounded
    as in the authors' code, no repeated tokens are added, and the outer budget is not raised.
    """

    name: ClassVar[str] = "holitom"
    title: ClassVar[str] = "HoliTom"
    paper: ClassVar[str] = "Shao et al., NeurIPS 2025, https://arxiv.org/abs/2505.21334"
    licence: ClassVar[str] = "Apache-2.0"
    reported: ClassVar[str] = (
        "99.1 % of the full performance at 6.9 % of the FLOPs: LLaVA-OneVision-7B (abstract)"
    )
    merges: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset({"saliency"})

    tau: float = setting(
        0.8, "Cosine to the next frame above which a token counts as static", low=-1.0, high=1.0
    )
    beta: float = setting(
        0.6,
        "Weight of a cluster centre in its merged token; its members get the rest",
        low=0.0,
        high=1.0,
    )
    max_window: int = setting(
        1024, "Maximum number of consecutive frames averaged into one", low=2, high=1024, step=1
    )
    inner: bool = setting(False, "Merge again inside the language model")
    layer: int = setting(
        18, "Language-model layer before which tokens are merged again", low=1, high=127, step=1
    )
    inner_drop: float = setting(
        0.5,
        "Fraction of tokens removed by the merging inside the language model",
        low=0.0,
        high=0.95,
        step=0.05,
    )
    num_layers: int = num_layers_setting()
    exact: bool = exact_setting()

    def inner_kind(self) -> type[InnerStage]:
        return HoliTomMerge

    def _compress(self, tokens: VideoTokens) -> Compression:
        units, per_unit = tokens.num_units, tokens.tokens_per_unit
        features = tokens.features.float().view(units, per_unit, -1)
        saliency = required(tokens, "saliency", "HoliTom").float().view(units, per_unit)
        windows = still_windows(features, self.tau, self.max_window)
        scores = {"saliency": saliency.flatten(), "static": windows.static.flatten()}
        rows = int(windows.sizes.sum())
        trace = {
            "window": windows.start,
            "effective_ratio": torch.tensor(self._ratio(tokens, rows)),
        }
        if self.exact and self.outer_budget(tokens) >= rows:
            home, weight = with_singles(windows, saliency, self.outer_budget(tokens))
            return merge_record(tokens, home, weight, scores, trace)
        static_counts, dynamic_counts = self._counts(tokens, windows)
        chosen = ranks(saliency.masked_fill(windows.static, float("-inf")))
        kept = (chosen < dynamic_counts.to(chosen.device)[:, None]) & ~windows.static
        home = torch.where(kept, windows.homes, -1)
        weight = torch.ones_like(saliency)
        for first in windows.firsts:
            if static_counts[first]:
                self._merge_static(
                    features, windows, first, int(static_counts[first]), home, weight
                )
        return merge_record(tokens, home.flatten(), weight.flatten(), scores, trace)

    @property
    def inner_share(self) -> float:
        return 1.0 - self.inner_drop

    def _ratio(self, tokens: VideoTokens, rows: int) -> float:
        """Return the fraction to keep of the ``rows`` tokens left after averaging over time."""
        if self.exact:
            return min(1.0, self.outer_budget(tokens) / rows)
        return min(1.0, self.retention_ratio / (rows / len(tokens)))

    def _counts(self, tokens: VideoTokens, windows: Windows) -> Tensor:
        """Return how many static and how many dynamic tokens to keep, int64 [2, T].

        Row 0: number of static tokens of each window, at the window's first unit; 0 at its other
        units. Row 1: number of dynamic tokens of each unit.
        """
        sizes = windows.sizes
        if self.exact:
            return exact_counts(sizes, self.outer_budget(tokens))
        ratio = self._ratio(tokens, int(sizes.sum()))
        static = [round(size * ratio) for size in sizes[0].tolist()]
        return torch.tensor([static, [math.ceil(size * ratio) for size in sizes[1].tolist()]])

    def _merge_static(
        self,
        features: Tensor,
        windows: Windows,
        first: int,
        count: int,
        home: Tensor,
        weight: Tensor,
    ) -> None:
        """Cluster the averages of one window into ``count`` output tokens.

        The window starts at unit ``first``. Writes its part of ``home`` [T, N], the flat index of
        the output token of each token, and of ``weight`` [T, N], the weight in that output token.
        """
        span, per_unit = windows.span(first), windows.static.shape[1]
        places = torch.nonzero(windows.static[first]).squeeze(1)
        means = features[span, places].mean(dim=0)  # [n, D]: averages over the window
        centers, assignment, _ = density_peaks(means, count, min(_NEIGHBOURS, count))
        is_center = torch.zeros_like(places, dtype=torch.bool)
        is_center[centers] = True
        members = torch.bincount(assignment, minlength=count)[assignment] - 1
        crowded = members > 0
        share = torch.where(is_center, self.beta, (1.0 - self.beta) / members.clamp(min=1))
        share = torch.where(crowded, share, 1.0)
        home[span, places] = first * per_unit + places[centers[assignment]]
        weight[span, places] = share / (span.stop - span.start)


def still_windows(features: Tensor, tau: float, longest: int) -> Windows:
    """Cut the frames [T, N, D] into windows; mark the positions that are still in each.

    A position is still in a window if its token has a cosine above ``tau`` to that of the next
    frame, for all frames of the window. The windows are those with which averaging the still
    positions saves most tokens. A window has at most ``longest`` frames.
    """
    unit = torch.nn.functional.normalize(features, dim=-1)
    # bool [T-1, N]: which positions are still from each frame to the next
    still = (unit[:-1] * unit[1:]).sum(dim=-1) > tau
    runs = [torch.zeros(unit.shape[1], dtype=torch.long, device=unit.device)]
    for step in still:
        runs.append(torch.where(step, runs[-1] + 1, 0))
    run = torch.stack(runs)  # [T, N]: number of successive still transitions up to each frame
    units = len(run)
    spans = torch.arange(units, device=run.device)
    saved = torch.stack([(run >= span).sum(dim=1) * span for span in spans]).tolist()
    best, length = [0], []  # best[i]: largest number of tokens saved on the first i frames
    for frame in range(units):
        value, chosen = best[frame], 1
        for width in range(2, min(frame + 1, longest) + 1):
            gain = best[frame + 1 - width] + saved[width - 1][frame]
            if gain > value:
                value, chosen = gain, width
        best.append(value)
        length.append(chosen)
    start = torch.arange(units, device=run.device)
    static = torch.zeros_like(run, dtype=torch.bool)
    frame = units - 1
    while frame >= 0:
        first = frame + 1 - length[frame]
        if first < frame:
            start[first : frame + 1] = first
            static[first : frame + 1] = run[frame] >= frame - first
        frame = first - 1
    return Windows(start, static)


@dataclass(frozen=True)
class HoliTomMerge(InnerStage):
    """Inner stage: merges the least attended tokens into their most similar kept token.

    Dropped tokens h_i are merged into a kept token h one after the other, h <- (h + h_i) / 2. So
    later ones have more weight.
    """

    name: ClassVar[str] = "holitom_merge"
    paper: ClassVar[str] = HoliTom.paper
    queries: ClassVar[str] = "last"

    def _compress(self, tokens: VideoTokens) -> Compression:
        score = required(tokens, "attention", "HoliTom")[:, -1].float().mean(dim=0)  # [L]
        rows = len(tokens)
        count = max(1, round(rows * self.share))
        if self.exact:
            count = self.exact_count(tokens, "HoliTom")
        if count >= rows:
            return identity_record(tokens, {"attention": score})
        keep = top_indices(score, count)
        home = torch.arange(rows, device=score.device)
        dropped = torch.ones_like(home, dtype=torch.bool).index_fill_(0, keep, False)
        hidden = tokens.features.float()
        home[dropped] = keep[most_similar(hidden[dropped], hidden[keep])]
        return merge_record(tokens, home, _folding_weights(home), {"attention": score})


def _folding_weights(home: Tensor) -> Tensor:
    """Return each token's weight [L] in the output token into which it is merged.

    Tokens are merged as in :class:`HoliTomMerge`, in the order of their indices. ``home`` int64
    [L]: index of the kept token into which each token is merged (its own if kept).
    """
    index = torch.arange(len(home), device=home.device)
    sizes = torch.bincount(home, minlength=len(home))
    first = sizes.cumsum(0) - sizes  # start of each group, if tokens are sorted by ``home``
    own = home == index
    order = torch.sort(torch.where(own, 2 * home, 2 * home + 1), stable=True).indices
    place = torch.empty_like(index)
    # Number within its group: 0 for the kept token, then 1, 2, ... in the order of merging.
    place[order] = index - first[home[order]]
    later = sizes[home] - place.clamp(min=1)
    return torch.exp2(-later.float())
