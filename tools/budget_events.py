"""Do budgets follow what happens? AUC of the tokens a unit keeps, on Glimpse, whose truth is known.

python -m tools.budget_events --out results/budget-events

For every clip: how often a unit in which something happens keeps more tokens than one in which
nothing does (ties count half). 0.5 is chance, 1 is perfect. The first unit, which has no history,
is left out.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from gleanvid.compressors import method_from, title_of
from gleanvid.evaluation.files import write_whole
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.comparisons import sentence, side
from gleanvid.evaluation.tables.statistics import Estimate, clip_mean, holm, sign_flip
from gleanvid.glimpse.questions.clips import make_video
from gleanvid.glimpse.world.scenes import sample_scene
from gleanvid.glimpse.world.world import ClipSettings, Scene
from gleanvid.models import load_model

SEED, RATIOS = 47, (0.25, 0.10)
OURS = "gleanvid"
METHODS = (OURS, "vidcom2", "vcast", "evs", "divprune", "floc", "pairwise_gain", "random")
EVENTS = ("appearance", "flash", "cut")


def events(scene: Scene) -> dict[str, set[int]]:
    """The units in which something appears (or blinks on again), flashes, or the scene is cut."""
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
    """How often a unit of ``happens`` has more than one of ``quiet``; None where there is none."""
    pairs = [(budgets[a], budgets[b]) for a in happens for b in quiet]
    if not pairs:
        return None
    return sum((a > b) + 0.5 * (a == b) for a, b in pairs) / len(pairs)


def measure(model: Any, clips: int) -> Iterator[dict[str, Any]]:
    """One row for every clip, ratio, method and kind of event that the clip has."""
    settings = ClipSettings()
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
    """Markdown: means with intervals, then where GleanVID differs from others."""
    cells: dict[tuple[float, str, str], dict[int, float]] = {}
    for row in rows:
        place = (float(row["ratio"]), row["method"], row["event"])
        cells.setdefault(place, {})[int(row["clip"])] = float(row["auc"])
    kinds = [kind for kind in EVENTS if (RATIOS[0], OURS, kind) in cells]
    counts = ", ".join(f"{kind} {len(cells[RATIOS[0], OURS, kind])}" for kind in kinds)
    lines = [
        [title_of(name), f"{ratio:.0%}"]
        + [
            _cell(clip_mean([*own.values()], [*own]))
            for kind in kinds
            for own in [cells[ratio, name, kind]]
        ]
        for ratio in RATIOS
        for name in METHODS
    ]
    others = [place for place in cells if place[1] != OURS]
    gaps = {
        place: [
            cells[place[0], OURS, place[2]][clip] - value for clip, value in cells[place].items()
        ]
        for place in others
    }
    ps = holm([sign_flip(gaps[place], range(len(gaps[place]))) for place in others])
    found: dict[tuple[float, str], dict[str, list[str]]] = {}
    for (ratio, name, kind), p in zip(others, ps, strict=True):
        mean = sum(gaps[ratio, name, kind])
        found.setdefault((ratio, kind), {}).setdefault(side(mean, p), []).append(title_of(name))
    told = [f"- {ratio:.0%}, {kind}: {sentence(own)}." for (ratio, kind), own in found.items()]
    return (
        f"Clips with each event: {counts}.\n\n"
        + markdown_table(["method", "kept", *kinds], lines)
        + f"\nGleanVID, sign-flip by clip, Holm over all {len(others)} comparisons, p < 0.05:\n\n"
        + "\n".join(told)
        + "\n"
    )


def _cell(found: Estimate) -> str:
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"


TEXT = """# Budgets against what happens

{about}

{clips} clips of the test split, seed {seed}, 32 frames (16 units), the built-in model's tokens. In
brackets 95 % by bootstrap over clips. Written by

    python -m tools.budget_events --clips {clips} --out results/budget-events

"""


def main() -> None:
    """Measure, and write rows.csv and table.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=120)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument(
        "--read", action="store_true", help="measure nothing, write table.md from rows.csv anew"
    )
    options = parser.parse_args()
    path = options.out / "rows.csv"
    if not options.read:
        _write_rows(path, options.clips)
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    about = (__doc__ or "").strip().partition("\n\n")[2].partition("\n\n")[2]
    text = TEXT.format(about=about, clips=options.clips, seed=SEED)
    write_whole(options.out / "table.md", text + table(rows))


def _write_rows(path: Path, clips: int) -> None:
    torch.set_num_threads(1)
    rows = list(measure(load_model("builtin", "cpu"), clips))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
