"""Measure whether budgets follow events in Glimpse clips, whose events are known.

python -m tools.budget_events --out results/budget-events

The AUC of a clip is how often a unit with an event keeps more tokens than a unit without one (ties
count half). 0.5 is chance, 1 is perfect. The first unit, which has no history, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from gleanvid.compressors import method_from, title_of
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.statistics import clip_mean
from gleanvid.glimpse.questions.clips import make_video
from gleanvid.glimpse.world.scenes import sample_scene
from gleanvid.glimpse.world.world import ClipSettings, Scene
from gleanvid.models import load_model
from tools.rows_and_table import cell, run, standings

SEED, RATIOS = 47, (0.25, 0.10)
OURS = "gleanvid"
METHODS = (OURS, "vidcom2", "vcast", "evs", "divprune", "floc", "pairwise_gain", "random")
EVENTS = ("appearance", "flash", "cut")


def events(scene: Scene) -> dict[str, set[int]]:
    """Return the temporal units of each kind of event: an appearance, a flash, a scene cut."""
    units = scene.settings.num_units

    def unit(time: float) -> int:
        return int(time * units + 1e-6)

    cuts = {unit(shot.start) for shot in scene.shots if shot.start > 0}
    found: dict[str, set[int]] = {"appearance": set(), "flash": set(), "cut": cuts}
    for thing in scene.things:
        name = "flash" if thing.behaviour == "flashes" else "appearance"
        starts = {unit(start) for start, _ in thing.spans if 0 < start < 1}
        found[name] |= starts - cuts
    return found


def auc(budgets: Sequence[float], happens: set[int], quiet: set[int]) -> float | None:
    """Return how often a unit with an event keeps more tokens than a unit without one (AUC).

    ``happens``, ``quiet``: units with and without an event. Ties count half. None if one is empty.
    """
    pairs = [(budgets[a], budgets[b]) for a in happens for b in quiet]
    if not pairs:
        return None
    return sum((a > b) + 0.5 * (a == b) for a, b in pairs) / len(pairs)


def measure(clips: int) -> Iterator[dict[str, Any]]:
    """Yield one row for every clip, ratio, method and kind of event in the clip."""
    torch.set_num_threads(1)
    model, settings = load_model("builtin", "cpu"), ClipSettings()
    for number in range(clips):
        told = events(sample_scene(SEED, "test", number, settings))
        later = set(range(1, settings.num_units))
        quiet = later - set().union(*told.values())
        if not any(told.values()):
            continue
        tokens = model.encode(make_video(SEED, "test", number, settings)).tokens
        for ratio in RATIOS:
            for name in METHODS:
                budgets = method_from(name, ratio).compress(tokens).budgets.tolist()
                for kind in EVENTS:
                    value = auc(budgets, told[kind] & later, quiet)
                    if value is not None:
                        row = {"clip": number, "ratio": ratio, "method": name, "event": kind}
                        yield row | {"auc": round(value, 5)}


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return Markdown: mean AUC of each method with intervals, then tests of GleanVID's lead."""
    cells: dict[tuple[float, str, str], dict[int, float]] = {}
    for row in rows:
        place = (float(row["ratio"]), row["method"], row["event"])
        cells.setdefault(place, {})[int(row["clip"])] = float(row["auc"])
    kinds = [kind for kind in EVENTS if (RATIOS[0], OURS, kind) in cells]
    counts = ", ".join(f"{kind} {len(cells[RATIOS[0], OURS, kind])}" for kind in kinds)
    lines = [
        [title_of(name), f"{ratio:.0%}"]
        + [
            cell(clip_mean([*own.values()], [*own]))
            for kind in kinds
            for own in [cells[ratio, name, kind]]
        ]
        for ratio in RATIOS
        for name in METHODS
    ]
    gaps = {
        ((ratio, kind), title_of(name)): [
            cells[ratio, OURS, kind][clip] - value for clip, value in own.items()
        ]
        for (ratio, name, kind), own in cells.items()
        if name != OURS
    }
    told = [f"- {ratio:.0%}, {kind}: {text}." for (ratio, kind), text in standings(gaps).items()]
    return (
        f"Clips with each event: {counts}.\n\n"
        + markdown_table(["method", "kept", *kinds], lines)
        + f"\nGleanVID, sign-flip by clip, Holm over all {len(gaps)} comparisons, p < 0.05:\n\n"
        + "\n".join(told)
        + "\n"
    )


TEXT = """# Budgets against what happens

{about}

{clips} clips of the test split, seed {seed}, 32 frames (16 units), the built-in model's tokens. In
brackets 95 % by bootstrap over clips. Written by

    python -m tools.budget_events --clips {clips} --out results/budget-events

"""


def document(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return Markdown: how the rows were measured, then their table."""
    about = (__doc__ or "").strip().partition("\n\n")[2].partition("\n\n")[2]
    return TEXT.format(about=about, clips=int(rows[0]["clips"]), seed=SEED) + table(rows)


if __name__ == "__main__":
    run(__doc__ or "", "rows.csv", ("clips", 120), measure, document)
