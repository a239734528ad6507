"""GleanVID: novelty-guided budgets per unit, then tokens that complement what is already kept.

Temporal Novelty-guided Budgeting (Algorithm 1 of the paper) spreads the budget over the units;
Complementary Token Selection (Algorithm 2) picks tokens unit by unit. The numerical guards
are ours: rounding noise must neither enter the basis nor, once a scene is explained,
decide the selection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import torch

from gleanvid.compressors.base import Compressor, setting
from gleanvid.ops.budgets import largest_remainder
from gleanvid.ops.cells import Cells
from gleanvid.ops.evidence import DebiasedClip, Evidence, SubspaceEvidence
from gleanvid.ops.subspace import history_residuals, remove_directions, top_directions
from gleanvid.types import Compression, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

_SATURATED = 1e-3  # of the largest norm: below this a unit has no complementary evidence left
_CONSTANT = 1e-6  # spread (of SCS: of the largest norm) within which float32 tells nothing apart
_TINY = 1e-30  # a cosine with a zero vector is zero


@dataclass(frozen=True)
class GleanVID(Compressor):
    """The method of the paper, with every hyper-parameter it reports.

    >>> record = GleanVID(0.5).compress(VideoTokens(torch.rand(24, 8), (2, 3, 4)))
    >>> record.num_kept, sorted(record.scores)
    (12, ['joint', 'lrs', 'novelty', 'scs'])
    """

    name: ClassVar[str] = "gleanvid"
    title: ClassVar[str] = "GleanVID"
    paper: ClassVar[str] = "GleanVID (the paper this library implements)"
    renamed: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"temperature": "tau", "history": "novelty_history"}
    )

    alpha_min: float = setting(
        0.2,
        "Least weight of the uniform budget, for bursty videos",
        low=0.0,
        high=1.0,
        step=0.05,
        label="alpha min",
        open=True,
        at_most="alpha_max",
    )
    alpha_max: float = setting(
        0.6,
        "Greatest weight of the uniform budget, for steady videos",
        low=0.0,
        high=1.0,
        step=0.05,
        label="alpha max",
        open=True,
        readout=("alpha", "gini"),
    )
    tau: float = setting(
        4.0,
        "Sharpness of the local score: higher picks fewer, clearer winners",
        low=0.0,
        high=20.0,
        above_low=True,
        step=0.5,
        label="tau",
        open=True,
    )
    debias_rank: int = setting(1, "Shared context directions removed first", low=0, high=16, step=1)
    novelty_history: int | None = setting(
        None,
        "Preceding units that novelty is measured against",
        kind=int,
        low=1,
        high=64,
        step=1,
        optional="all preceding units",
        start=4,
    )
    budget_neighborhood: int = setting(
        2, "Side of the pooling cell for novelty, in tokens (1 = point-wise)", low=1, high=8, step=1
    )
    local_neighborhood: int = setting(
        2, "Side of the pooling cell for the local score, in tokens", low=1, high=8, step=1
    )
    orth_tolerance: float = setting(
        1e-4,
        "Relative size below which a direction counts as explained",
        low=0.0,
        high=0.01,
        above_low=True,
        step=1e-4,
    )

    def compress(self, tokens: VideoTokens) -> Compression:
        clip, references = self._prepared(tokens)
        budgets, scores, trace = self._budget(tokens, clip, references[:, :-1])
        keep, more_scores, more_trace = self._select(tokens, clip, references, budgets)
        return Compression.pruned(keep, tokens.grid, scores | more_scores, trace | more_trace)

    def _prepared(self, tokens: VideoTokens) -> tuple[DebiasedClip, Tensor]:
        """The clip in float32 or better, and the means of cells and units [T, C + 1, D]."""
        features = tokens.features.detach()
        features = features.to(torch.promote_types(features.dtype, torch.float32))
        features = features.view(tokens.num_units, tokens.tokens_per_unit, -1)
        references = self._cells(tokens, self.local_neighborhood).means_and_whole(features)
        mean = references[:, -1].mean(0)
        directions = top_directions(features.flatten(0, 1), mean, self.debias_rank)
        return DebiasedClip.of(features, mean, directions), references

    def _cells(self, tokens: VideoTokens, size: int) -> Cells:
        return Cells(*tokens.grid[1:], size, tokens.features.device)

    def _budget(
        self, tokens: VideoTokens, clip: DebiasedClip, means: Tensor
    ) -> tuple[list[int], dict[str, Tensor], dict[str, Tensor]]:
        """Algorithm 1: tokens per unit, with the novelty that decided them.

        ``means`` [T, C, D] are those of the local cells.
        """
        cells = self._cells(tokens, self.budget_neighborhood)
        if self.budget_neighborhood != self.local_neighborhood:
            means = cells.means(clip.features)
        residuals = self._novelty(clip, means)  # [T, C]
        novelty = (residuals * cells.sizes).sum(1).cpu()  # R_t: the one read-back for budgets
        share, gini = novelty_shares(novelty)
        alpha = self.alpha_max - (self.alpha_max - self.alpha_min) * gini  # Eq. adaptive_alpha
        quota = self._quota(tokens, share, alpha)
        budgets = largest_remainder(quota, self.budget(tokens), tokens.tokens_per_unit)
        trace = {"novelty": novelty, "share": share, "gini": gini, "alpha": alpha}
        return budgets.tolist(), {"novelty": residuals[:, cells.of_position].flatten()}, trace

    def _novelty(self, clip: DebiasedClip, means: Tensor) -> Tensor:
        """Novelty r of every cell [T, C], from the cells' means [T, C, D] (Eq. novelty)."""
        prototypes = remove_directions(means.flatten(0, 1), clip.mean, clip.directions)
        return history_residuals(
            prototypes.view_as(means), self.novelty_history, self.orth_tolerance
        )

    def _quota(self, tokens: VideoTokens, share: Tensor, alpha: Tensor) -> Tensor:
        """Share of the budget due to every unit [T] (Eq. budget over B)."""
        return alpha / len(share) + (1 - alpha) * share

    def _select(
        self, tokens: VideoTokens, clip: DebiasedClip, references: Tensor, budgets: list[int]
    ) -> tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]:
        """Algorithm 2: the kept indices, unit by unit, each judged against all units before it."""
        norms = torch.linalg.vector_norm(clip.features, dim=-1)  # [T, N]
        local = self._local_scores(tokens, clip, norms, references)
        evidence = self._evidence(clip, norms, budgets)
        noise = Noise.of(evidence.scale)
        normalised = min_max(local, _CONSTANT)
        complements, joint, kept = [], [], []
        for unit, budget in enumerate(budgets):
            complement = evidence.complement(unit)
            score = self._score(normalised[unit], complement, noise)
            if budget:
                kept.append(highest(score, budget))
                evidence.absorb(kept[-1])
            complements.append(complement)
            joint.append(score)
        scores = {"lrs": local.flatten(), "scs": torch.cat(complements), "joint": torch.cat(joint)}
        trace = {
            "basis_rank": evidence.ranks(budgets),
            "saturated": torch.stack(complements).amax(1) <= noise.saturated,
            "budget_over_width": torch.tensor(sum(budgets) / clip.features.shape[-1]),
        }
        return in_order(kept, budgets, tokens.tokens_per_unit), scores, trace

    def _evidence(self, clip: DebiasedClip, norms: Tensor, budgets: list[int]) -> Evidence:
        """What the tokens kept so far leave unexplained."""
        return SubspaceEvidence(clip, clip.largest_norm(norms), budgets, self.orth_tolerance)

    def _score(self, local: Tensor, complement: Tensor, noise: Noise) -> Tensor:
        """Joint score g [N] of one unit (Eq. joint_score)."""
        return joint_score(local, complement, noise)

    def _local_scores(
        self, tokens: VideoTokens, clip: DebiasedClip, norms: Tensor, references: Tensor
    ) -> Tensor:
        """Local representativeness u_{t,n} (Eq. ncd) on raw features [T, N].

        ``norms`` [T, N] are those of the features; ``references`` [T, C + 1, D] the means of the
        cells, then of the unit.
        """
        cell = self._cells(tokens, self.local_neighborhood).of_position
        sizes = norms[..., None] * torch.linalg.vector_norm(references, dim=-1)[:, None]
        cosines = (clip.features @ references.mT) / sizes.clamp(min=_TINY)  # [T, N, C + 1]
        near = cosines.gather(2, cell.expand(len(norms), -1)[..., None])[..., 0]
        sharpened = self.tau * (near - cosines[..., -1]).double()
        return torch.nn.functional.softplus(sharpened) / self.tau


class Noise(NamedTuple):
    """What rounding alone may make of complements, as numbers on the device."""

    saturated: Tensor  # where no complement of a unit is larger, nothing new is left in it
    equal: Tensor  # complements this close to each other are the same
    endless: Tensor  # a spread over which every difference vanishes

    @classmethod
    def of(cls, scale: Tensor) -> Noise:
        return cls(_SATURATED * scale, _CONSTANT * scale, scale.new_full((), torch.inf))


def joint_score(local: Tensor, complement: Tensor, noise: Noise) -> Tensor:
    """Local scores [N] within [0, 1] plus complements [N] brought to [0, 1] (Eq. joint_score).

    Complements do not count where they are noise.
    """
    low, high = torch.aminmax(complement)
    spread = high - low
    counts = (high > noise.saturated) & (spread > noise.equal)
    return torch.addcdiv(local, complement - low, torch.where(counts, spread, noise.endless))


def highest(score: Tensor, count: int) -> Tensor:
    """Indices int64 [count] of the highest scores [N], best first; ties go to the lower index."""
    return torch.sort(score, descending=True, stable=True).indices[:count]


def in_order(chosen: Sequence[Tensor], budgets: Sequence[int], per_unit: int) -> Tensor:
    """Ascending indices into the clip, from the places chosen in every unit with a budget."""
    starts = [unit * per_unit for unit, budget in enumerate(budgets) for _ in range(budget)]
    places = torch.cat([*chosen])
    return (places + torch.tensor(starts, device=places.device)).sort().values


def novelty_shares(novelty: Tensor) -> tuple[Tensor, Tensor]:
    """Share of every unit [T] and the Gini coefficient (Eq. gini); equal where all is zero."""
    units, total = len(novelty), novelty.sum()
    rank = torch.arange(1, units + 1, dtype=novelty.dtype, device=novelty.device)
    flat = total <= 0
    safe = torch.where(flat, 1.0, total)
    share = torch.where(flat, 1.0 / units, novelty / safe)
    gini = 2 * (rank * novelty.sort().values).sum() / (units * safe) - (units + 1) / units
    return share, torch.where(flat, 0.0, gini.clamp(0, 1))


def min_max(score: Tensor, spread: float = 0.0) -> Tensor:
    """Scale the last axis to [0, 1]; zeros where its values lie within ``spread`` of each other."""
    low, high = torch.aminmax(score, dim=-1, keepdim=True)
    wide = high - low > spread
    return torch.where(wide, (score - low) / torch.where(wide, high - low, 1.0), 0.0)
