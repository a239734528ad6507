"""Write ``table.md`` and ``results.json`` of the relevance study from the rows of its journal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from gleanvid.evaluation.benchmarks.base import Item
from gleanvid.evaluation.benchmarks.glimpse import Glimpse
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.statistics import clip_mean
from tools.relevance_study.measuring import (
    DELETION,
    FRAMES,
    INSERTION,
    METHODS,
    PARTS,
    PRECISIONS,
    RATIOS,
)
from tools.relevance_study.measuring import setup as setup_of
from tools.relevance_study.predicting import predicting
from tools.rows_and_table import cell

Rows = Sequence[tuple[Item, Any]]
Table = tuple[str, list[str], list[list[str]]]  # a table: its note, column heads and lines

SCORES = ("gradient", "attention", "joint score", "novelty", "saliency", "feature norm", "random")
CURVES = {"deletion": DELETION, "insertion": INSERTION}
MEASURES = ("AUC", "average precision", "AUC, objects", "average precision, objects")
TEXT = """# What relevance measures

Written by `python -m tools.relevance_study --out results/relevance` with the built-in model on
Glimpse: {items} questions ({clips} clips of the seeds {seeds}); {hidden} of them with tokens
hidden. Relevance measures how this model uses its input, not what is true. Intervals (95 %)
resample clips.

On a CPU a gradient map took {gradient:.1f} s, one of attention {attention:.1f} s, occlusion by unit
({units} passes) {occlusion:.1f} s (medians, one thread, the machine shared with other work).
"""


def write(out: Path, rows: Mapping[tuple[str, str], Any]) -> None:
    """Write ``table.md`` and ``results.json`` from all rows of the journal."""
    items = _items(rows)
    found = {
        part: [(item, rows[item.id, part]) for item in items if (item.id, part) in rows]
        for part in PARTS
    }
    mapped, hidden = found["maps"], found["hidden"]
    tables = {
        "Against the truth": against_truth(mapped, hidden),
        **{f"By family of questions ({name})": by_family(mapped, name) for name in SCORES[:3]},
        "By family of questions (occlusion)": by_family(hidden, "occlusion"),
        "By seed of the clips": by_seed(mapped),
        "By hiding tokens": by_hiding(hidden),
        "Under another wording": by_wording(hidden),
        "In lower precision": in_lower_precision(found),
        "Relevance kept": kept_by_method(mapped),
        "Does it predict a right answer": predicting(mapped),
    }
    parts = [_introduction(mapped, hidden)]
    for title, (note, heads, lines) in tables.items():
        parts.append(f"\n## {title}\n\n{note}\n\n{markdown_table(heads, lines)}")
    (out / "table.md").write_text("\n".join(parts), encoding="utf-8")
    facts = {
        title: [dict(zip(heads, line, strict=True)) for line in lines]
        for title, (_, heads, lines) in tables.items()
    }
    (out / "results.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def _items(rows: Mapping[tuple[str, str], Any]) -> list[Item]:
    """Return the benchmark items that the journal has rows about, in order of seed and clip."""
    measured = {item for item, _ in rows}
    seeds = sorted({int(item.split("/")[0]) for item in measured})
    every = [item for seed in seeds for item in Glimpse(clip_frames=FRAMES).items(500, seed)]
    return [item for item in every if item.id in measured]


def _introduction(mapped: Rows, hidden: Rows) -> str:
    seeds = [str(seed) for seed in dict.fromkeys(seed_of(item) for item, _ in mapped)]
    took = {n: median(row["seconds"][n] for _, row in mapped) for n in ("gradient", "attention")}
    return TEXT.format(
        items=len(mapped),
        clips=len({item.clip for item, _ in mapped}),
        seeds=", ".join(seeds),
        hidden=len(hidden),
        units=hidden[0][1]["units"],
        occlusion=median(row["seconds"] for _, row in hidden),
        **took,
    )


def seed_of(item: Item) -> int:
    return int(item.clip.split("/")[0])


def mean(rows: Sequence[tuple[Item, float | None]]) -> str:
    """Format the mean of the values that are not None, with its interval."""
    known = [(value, item.clip) for item, value in rows if value is not None]
    return cell(clip_mean(*zip(*known, strict=True))) if known else ""


def truths(rows: Rows, score: str) -> list[str]:
    """Return a table cell for each of ``MEASURES``: how well a score finds the right tokens."""
    found = [(item, row["truth"][score]) for item, row in rows if score in row.get("truth", {})]
    return [mean([(i, t[p]) for i, t in found if len(t) > p]) for p in range(len(MEASURES))]


def against_truth(mapped: Rows, hidden: Rows) -> Table:
    note = (
        "Area under the ROC curve and average precision of the tokens that hold the answer: among "
        "all tokens, and among those that show any object, where the question decides. Occlusion "
        f"by unit: {sum('truth' in row for _, row in hidden)} questions."
    )
    lines = [[name, *truths(mapped, name)] for name in SCORES]
    return note, ["score", *MEASURES], [*lines, ["occlusion", *truths(hidden, "occlusion")]]


def by_family(mapped: Rows, score: str) -> Table:
    lines = []
    for family in Glimpse.columns:
        own = [
            (item, row)
            for item, row in mapped
            if item.groups[0] == family and score in row.get("truth", {})
        ]
        if own:
            lines.append([family, str(len(own)), *truths(own, score)])
    return "Empty where no question has other objects.", ["family", "questions", *MEASURES], lines


def by_seed(mapped: Rows) -> Table:
    kept = [(name, setup_of(name, 0.15).key) for name in ("gleanvid", "vidcom2", "aot")]
    lines = []
    for seed in dict.fromkeys(seed_of(item) for item, _ in mapped):
        own = [(item, row) for item, row in mapped if seed_of(item) == seed]
        shares = [mean([(i, 100 * row["kept"][key]) for i, row in own]) for _, key in kept]
        lines.append([str(seed), str(len(own)), *truths(own, "gradient"), *shares])
    heads = ["seed", "questions", *MEASURES, *(f"{name} keeps at 15%" for name, _ in kept)]
    return "The gradient against the truth, and percent of relevance kept.", heads, lines


def by_hiding(hidden: Rows) -> Table:
    note = (
        "Rank correlation by unit with hiding the unit, and the change of the answer's "
        "log-probability (natural) when the first tokens in an order are taken away (deletion: "
        "lower is better) or are all that is left (insertion: higher is better)."
    )
    points = [(k, p, f) for k, fs in CURVES.items() for p, f in enumerate(fs)]
    lines = []
    for name in ("gradient", "attention", "random"):
        agree = mean([(item, row["agreement"].get(name)) for item, row in hidden])
        curves = [
            mean([(item, row["curves"][name][kind][place] - row["whole"]) for item, row in hidden])
            for kind, place, _ in points
        ]
        lines.append([name, agree, *curves])
    heads = ["order", "agreement by unit", *(f"{kind} {part:.0%}" for kind, _, part in points)]
    return note, heads, lines


def by_wording(hidden: Rows) -> Table:
    own = [(item, row) for item, row in hidden if "reworded" in row]
    note = (
        f"The same question in other words, the same answer ({len(own)} questions): rank "
        "correlation of the gradient's maps, and the fraction that their top 10 % share "
        "(0.10 by chance)."
    )
    cells = [mean([(item, row[key]) for item, row in own]) for key in ("reworded", "reworded_top")]
    return note, ["rank correlation", "top 10 % shared"], [cells]


def in_lower_precision(found: Mapping[str, Rows]) -> Table:
    note = (
        "The whole model in another precision on the CPU (8-bit and 4-bit weights by "
        "bitsandbytes): how far the gradient's map agrees with that in float32, and both against "
        "the truth."
    )
    lines = []
    for name in PRECISIONS:
        rows = found[name]
        agree = [mean([(item, row[key]) for item, row in rows]) for key in ("rank", "top")]
        lines.append([name, str(len(rows)), *agree, *truths(rows, name)])
    widest = max((found[name] for name in PRECISIONS), key=len)
    lines.append(["float32", str(len(widest)), "", "", *truths(widest, "float32")])
    heads = ["dtype", "questions", "rank correlation", "top 10 % shared", *MEASURES]
    return note, heads, lines


def kept_by_method(mapped: Rows) -> Table:
    note = "Percent of the relevance (gradient, the model's own answer) that a method keeps."

    def shares(kind: str, method: str) -> list[str]:
        keys = [setup_of(method, ratio).key for ratio in RATIOS]
        return [mean([(item, 100 * row[kind][key]) for item, row in mapped]) for key in keys]

    lines = [[method, *shares("kept", method)] for method in METHODS]
    lines.append(["best tokens (upper bound)", *shares("best", "uniform")])
    lines.append(["random, expected", *(f"{100 * ratio:.2f}" for ratio in RATIOS)])
    return note, ["method", *(f"{ratio:.0%} kept" for ratio in RATIOS)], lines
