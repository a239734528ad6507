"""GleanVID: novelty-guided budgets per unit, then tokens that complement what is already kept.

Temporal Novelty-guided Budgeting (Algorithm 1 of the paper) spreads the budget over the units;
Complementary Token Selection (Algorithm 2) picks tokens unit by unit. To learn the method, read
:mod:`gleanvid.compressors.gleanvid.reference` first: the same steps in plain float64. This module
computes them fast, with float32 products and without a device-to-host sync inside the loop over
units. Its numerical guards are not in the paper: without them, rounding errors would enter the
basis once the kept tokens span a scene, and would decide between equal tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.compressors.gleanvid.budget import history_residuals, novelty_shares
from gleanvid.compressors.gleanvid.cells import Cells
from gleanvid.compressors.gleanvid.debiasing import DebiasedClip, remove_directions, top_directions
from gleanvid.compressors.gleanvid.residuals import Evidence, SubspaceEvidence
from gleanvid.compressors.gleanvid.select import choose, joint_score, local_scores, min_max
from gleanvid.compressors.shared.apportion import budget_quotas, largest_remainder
from gleanvid.compressors.shared.threads import on_one_thread
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class GleanVID(Compressor):
    """The method of the paper, with every hyper-parameter it reports.

    Args:
        retention_ratio: rho in (0, 1], the fraction of the visual tokens that is kept.
        alpha_min: Smallest fraction of the budget that is spread evenly over time.
        alpha_max: Largest such fraction. The fraction used is alpha_max - (alpha_max - alpha_min) c
            with the Gini coefficient c of the novelty over the units.
        tau: Sharpness of the local score (LRS).
        debias_rank: Number of feature directions common to all tokens that are removed first.
        novelty_history: Number of preceding units that novelty is measured against; None: all.
        budget_neighborhood: Side of the cells whose mean features give the novelty, in tokens.
        local_neighborhood: Side of the cells that the local score compares with, in tokens.
        orth_tolerance: A kept token adds no direction if its residual norm is at most this fraction
            of the largest one of its unit's kept tokens. Also the relative ridge of the novelty.

    Raises:
        ValueError: A setting is out of its range, or ``alpha_min`` is above ``alpha_max``.

    >>> record = GleanVID(0.5).compress(VideoTokens(torch.rand(24, 8), (2, 3, 4)))
    >>> record.num_kept, sorted(record.scores)
    (12, ['joint', 'lrs', 'novelty', 'scs'])
    """

    name: ClassVar[str] = "gleanvid"
    title: ClassVar[str] = "GleanVID"
    paper: ClassVar[str] = "GleanVID (the paper this library implements)"
    reported: ClassVar[str] = "97.3 % of Qwen3-VL-8B's accuracy at 25 %, 96.0 % at 15 % (64 frames)"

    alpha_min: float = setting(
        0.2,
        "Smallest fraction of the budget spread evenly over time",
        low=0.0,
        high=1.0,
        step=0.05,
        label="alpha min",
        open=True,
        at_most="alpha_max",
    )
    alpha_max: float = setting(
        0.6,
        "Largest fraction of the budget spread evenly over time",
        low=0.0,
        high=1.0,
        step=0.05,
        label="alpha max",
        open=True,
    )
    tau: float = setting(
        4.0,
        "Sharpness of the local score; higher gives fewer tokens a high score",
        low=0.0,
        high=20.0,
        above_low=True,
        step=0.5,
        label="tau",
        open=True,
    )
    debias_rank: int = setting(
        1,
        "Number of feature directions common to all tokens that are removed before scoring",
        low=0,
        high=16,
        step=1,
    )
    novelty_history: int | None = setting(
        None,
        "Number of preceding units that novelty is measured against",
        kind=int,
        low=1,
        high=64,
        step=1,
        optional="all preceding units",
        start=4,
    )
    budget_neighborhood: int = setting(
        2,
        "Side of the cells that novelty is averaged over, in tokens (1: no averaging)",
        low=1,
        high=8,
        step=1,
    )
    local_neighborhood: int = setting(
        2,
        "Side of the neighbourhood that the local score compares with, in tokens",
        low=1,
        high=8,
        step=1,
    )
    orth_tolerance: float = setting(
        1e-4,
        "Relative residual norm below which a kept token counts as adding no direction",
        low=0.0,
        high=0.01,
        above_low=True,
        step=1e-4,
    )

    def _compress(self, tokens: VideoTokens) -> Compression:
        operations = 4 * tokens.features.numel() * self.budget(tokens)
        work = partial(self._budget_and_select, tokens)
        return on_one_thread(work, operations, tokens.features.device)

    def _budget_and_select(self, tokens: VideoTokens) -> Compression:
        clip, references = self._prepared(tokens)
        budgets, scores, trace = self._budget(tokens, clip, references)
        keep, more_scores, more_trace = self._select(tokens, clip, references, budgets)
        return Compression.pruned(keep, tokens.grid, scores | more_scores, trace | more_trace)

    def _prepared(self, tokens: VideoTokens) -> tuple[DebiasedClip, Tensor]:
        """Return the debiased clip (Alg. 1, lines 1-6), and mean features [T, C + 1, D].

        The means of a unit are those of its C pooling cells, then that of all its tokens. All of
        this is computed in float32, or in float64 if the features have this dtype.
        """
        features = tokens.features.detach()
        features = features if features.dtype == torch.float64 else features.float()
        features = features.view(tokens.num_units, tokens.tokens_per_unit, -1)
        references = self._cells(tokens, self.local_neighborhood).means_and_whole(features)
        mean = references[:, -1].mean(0)
        every, pooled = features.flatten(0, 1), references.flatten(0, 1)
        directions = top_directions(every, mean, self.debias_rank, pooled)
        return DebiasedClip.of(features, mean, directions), references

    def _cells(self, tokens: VideoTokens, size: int) -> Cells:
        return Cells(*tokens.grid[1:], size, tokens.features.device)

    def _budget(
        self, tokens: VideoTokens, clip: DebiasedClip, means: Tensor
    ) -> tuple[list[int], dict[str, Tensor], dict[str, Tensor]]:
        """Return the budgets k_t of all units (Alg. 1, lines 7-20).

        Also returns ``scores`` and ``trace`` for the compression record. ``means`` [T, C + 1, D]:
        mean features of the C pooling cells of every unit, then of the whole unit.
        """
        cells = self._cells(tokens, self.budget_neighborhood)
        if self.budget_neighborhood != self.local_neighborhood:
            means = cells.means_and_whole(clip.features)
        # [T, C]: novelty of each pooling cell; that of the whole unit is left out
        residuals = self._novelty(clip, means)[:, :-1]
        novelty = (residuals * cells.sizes).sum(1).cpu()  # R_t (Alg. 1, line 15), now on the host
        share, gini = novelty_shares(novelty)  # Alg. 1, lines 16-17
        alpha = self.alpha_max - (self.alpha_max - self.alpha_min) * gini  # Eq. adaptive_alpha
        quota = self._quota(tokens, share, alpha)
        # Alg. 1, line 20
        budgets = largest_remainder(quota, self.budget(tokens), tokens.tokens_per_unit)
        trace = {"novelty": novelty, "share": share, "gini": gini, "alpha": alpha}
        return budgets.tolist(), {"novelty": residuals[:, cells.of_position].flatten()}, trace

    def _novelty(self, clip: DebiasedClip, means: Tensor) -> Tensor:
        """Return the novelty r [T, C + 1] of C pooling cells and the whole unit (Eq. novelty)."""
        prototypes = remove_directions(means.flatten(0, 1), clip.mean, clip.directions)
        return history_residuals(
            prototypes.view_as(means), self.novelty_history, self.orth_tolerance
        )

    def _quota(self, tokens: VideoTokens, share: Tensor, alpha: Tensor) -> Tensor:
        """Return the fraction of the budget B for each unit, [T] (Eq. budget, Alg. 1, line 19)."""
        return budget_quotas(share, alpha)

    def _select(
        self, tokens: VideoTokens, clip: DebiasedClip, references: Tensor, budgets: list[int]
    ) -> tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]:
        """Return the indices of the kept tokens (Algorithm 2).

        Also returns ``scores`` and ``trace`` for the compression record. ``references``: the mean
        features of :meth:`_prepared`. ``budgets`` [T]: number of tokens to keep of each unit.
        """
        local = self._local_scores(tokens, clip, references)
        normalised, evidence = min_max(local), self._evidence(clip, budgets)
        complements, kept = [], []
        for unit, budget in enumerate(budgets):
            complements.append(evidence.complement(unit))  # Alg. 2, line 9
            if budget:
                terms = self._terms(normalised[unit], complements[-1])
                kept.append(choose(*terms, evidence.scale, budget))  # Alg. 2, lines 11-13
                evidence.absorb(kept[-1])  # Alg. 2, lines 15-18
        added = torch.stack(complements)
        joint = joint_score(*self._terms(normalised, added), evidence.scale)
        scores = {"lrs": local.flatten(), "scs": added.flatten(), "joint": joint.flatten()}
        trace = evidence.trace(budgets, added)
        trace["budget_over_width"] = torch.tensor(sum(budgets) / clip.features.shape[-1])
        return in_order(kept, budgets, tokens.tokens_per_unit), scores, trace

    def _evidence(self, clip: DebiasedClip, budgets: list[int]) -> Evidence:
        return SubspaceEvidence(clip, budgets, self.orth_tolerance)

    def _terms(self, local: Tensor, complement: Tensor) -> tuple[Tensor, Tensor]:
        """Return the scores that Eq. joint_score adds, [N] or [T, N]; Ablation replaces them."""
        return local, complement

    def _local_scores(self, tokens: VideoTokens, clip: DebiasedClip, references: Tensor) -> Tensor:
        """Local representativeness u_{t,n} (Eq. ncd) of the tokens before debiasing, [T, N]."""
        cell = self._cells(tokens, self.local_neighborhood).of_position
        return local_scores(clip.features, clip.norms, references, cell, self.tau)


def in_order(kept: Sequence[Tensor], budgets: Sequence[int], per_unit: int) -> Tensor:
    """Turn positions in units into flat token indices, int64 [K], ascending.

    ``kept``: int64 positions of each unit that keeps tokens. ``budgets``: number of kept tokens of
    every unit. ``per_unit``: number of tokens of a unit.
    """
    starts = [unit * per_unit for unit, budget in enumerate(budgets) for _ in range(budget)]
    places = torch.cat([*kept])
    return (places + torch.tensor(starts, device=places.device)).sort().values
