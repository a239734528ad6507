"""Tables of setups as data: the paper's ablations, grids and fixed-token-budget table, and our own.

A variant is one row of a table: a method with the settings that are not its defaults. Rows are in
the paper's order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gleanvid.compressors.ablation import Ablation
from gleanvid.compressors.base import Compressor
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.random import Random
from gleanvid.compressors.uniform import Uniform
from gleanvid.compressors.vcast import VCast
from gleanvid.compressors.vidcom2 import VidCom2
from gleanvid.evaluation.run.setups import Setup


@dataclass(frozen=True)
class Variant:
    """One row of a table: a method with ``settings``.

    ``frames``: factor by which the table's number of frames is multiplied. ``ratio``: retention
    ratio in place of the table's.
    """

    label: str
    method: type[Compressor] = GleanVID
    settings: Mapping[str, Any] = field(default_factory=dict)
    frames: int = 1
    ratio: float | None = None


@dataclass(frozen=True)
class Preset:
    """One table of the paper. ``heading`` is the head of its first column.

    ``ratio`` and ``frames`` are the paper's retention ratio and number of frames. Relative
    performance compares with all tokens of ``frames`` frames.
    """

    title: str
    heading: str
    variants: tuple[Variant, ...]
    ratio: float = 0.15
    frames: int = 32

    def setups(self, num_frames: int | None = None, ratio: float | None = None) -> list[Setup]:
        """Return a setup with all tokens, then one setup for each variant.

        ``num_frames`` and ``ratio`` replace those of the table. Raises ``ValueError`` if a setting
        is out of its range.
        """
        base = self.frames if num_frames is None else num_frames
        share = self.ratio if ratio is None else ratio
        rows = [Setup(FullTokens(), base)]
        for variant in self.variants:
            kept = share if variant.ratio is None else variant.ratio
            method = variant.method(retention_ratio=kept, **variant.settings)
            rows.append(Setup(method, base * variant.frames, variant.label))
        return rows


def _replaced(label: str, **parts: Any) -> Variant:
    return Variant(label, Ablation, parts)


def _grid(title: str, heading: str, name: str, values: Mapping[str, Any]) -> Preset:
    """Return a table with a row for each value of setting ``name``; "†" marks the default."""
    rows = tuple(Variant(label, GleanVID, {name: value}) for label, value in values.items())
    return Preset(title, heading, rows)


_OURS = Variant("GleanVID")
# Row labels are the paper's. TNB: Temporal Novelty-guided Budgeting. CTS: Complementary Token
# Selection by the sum of two scores: LRS, the local score, and SCS, the subspace score.
ABLATIONS: dict[str, Preset] = {
    "components": Preset(
        "Model components",
        "Variant",
        (_replaced("w/o TNB", budgeting="random"), _replaced("w/o CTS", selection="random"), _OURS),
    ),
    "signals": Preset(
        "Token-selection signals",
        "Variant",
        (
            _replaced("LRS only", selection="lrs"),
            _replaced("SCS only", selection="scs"),
            Variant("LRS + SCS"),
        ),
    ),
    "budgets": Preset(
        "Frame-budget allocation",
        "Variant",
        (
            _replaced("Random", budgeting="random"),
            _replaced("Uniform", budgeting="uniform"),
            _replaced("Fixed (alpha = 0.5)", budgeting="fixed"),
            Variant("Adaptive"),
        ),
    ),
    "complementarity": Preset(
        "Complementarity measure",
        "Variant",
        (_replaced("Pairwise distance", selection="pairwise"), Variant("SCS")),
    ),
    "replacement": Preset(
        "Component replacement with V-CAST",
        "Variant",
        (
            Variant("V-CAST", VCast),
            _replaced("TNB -> V-CAST budgeting", budgeting="vcast"),
            _replaced("CTS -> V-CAST scoring", selection="vcast"),
            _OURS,
        ),
    ),
    "debias-rank": _grid(
        "Context debiasing rank", "Rank r_d", "debias_rank", {"0": 0, "1 †": 1, "2": 2, "4": 4}
    ),
    "history": _grid(
        "Temporal history length",
        "History h",
        "novelty_history",
        {"1": 1, "2": 2, "4": 4, "all †": None},
    ),
    "budget-neighborhood": _grid(
        "Neighbourhood of temporal prototypes (TNB)",
        "Neighbourhood",
        "budget_neighborhood",
        {"1 x 1": 1, "2 x 2 †": 2, "4 x 4": 4},
    ),
    "local-neighborhood": _grid(
        "Neighbourhood of local prototypes (LRS)",
        "Neighbourhood",
        "local_neighborhood",
        {"1 x 1": 1, "2 x 2 †": 2, "4 x 4": 4},
    ),
    "temperature": _grid(
        "LRS temperature", "Temperature tau", "tau", {"1": 1.0, "2": 2.0, "4 †": 4.0, "8": 8.0}
    ),
    "alpha": _grid(
        "Adaptive allocation bounds",
        "[alpha_min, alpha_max]",
        "alpha_max",
        {"[0.2, 0.4]": 0.4, "[0.2, 0.6] †": 0.6, "[0.2, 0.8]": 0.8},
    ),
}


@dataclass(frozen=True)
class ClipSample:
    """A random sample of a benchmark's videos, as for the paper's diagnosis.

    ``videos``: how many to draw with ``seed``. ``num_frames``: the diagnosis compares temporal
    units that are up to 20 units apart, so it needs 21 units. With units of two frames, as in
    Qwen3-VL, that is 42 frames.
    """

    benchmark: str
    videos: int
    num_frames: int
    seed: int = 0


DIAGNOSES: dict[str, ClipSample] = {
    "longvideobench-100": ClipSample("longvideobench", videos=100, num_frames=42)
}

_FIXED_BUDGET = Preset(
    "Fixed token budget",
    "Method",
    (
        Variant("V-CAST", VCast, frames=5, ratio=0.20),
        Variant("GleanVID", frames=5, ratio=0.20),
        Variant("V-CAST", VCast, frames=10, ratio=0.10),
        Variant("GleanVID", frames=10, ratio=0.10),
    ),
    frames=16,
)

PRESETS: dict[str, Preset] = {"fixed-token-budget": _FIXED_BUDGET}
OWN_PRESETS: dict[str, Preset] = {  # tables that are not in the paper
    # whether more frames raise the accuracy of other methods as much
    "fixed-token-budget-baselines": replace(
        _FIXED_BUDGET,
        title="Fixed token budget, with baselines",
        variants=(
            *_FIXED_BUDGET.variants,
            *(
                Variant(method.title, method, frames=times, ratio=ratio)
                for times, ratio in ((5, 0.20), (10, 0.10))
                for method in (VidCom2, Uniform, Random)
            ),
        ),
    )
}
