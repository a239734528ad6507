"""Tables on the 2,000 hard questions at 160 px: collisions, and losses with all evidence kept."""

from __future__ import annotations

import gzip
import json
from functools import cache
from statistics import fmean
from typing import Any

from gleanvid.evaluation.benchmarks.glimpse import HARD
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.statistics import paired_difference
from tools.collisions import collisions
from tools.result_tables import RESULTS, kept, line_of, points, read

_FOLDER = "glimpse-hard"
_METHODS = {"gleanvid": "GleanVID", "vidcom2": "VidCom2", "vcast": "V-CAST", "uniform": "Uniform"}
_RIVALS = {
    "vcast": "V-CAST",
    "uniform": "Uniform",
    "random": "Random",
    "vidcom2": "VidCom2",
    "divprune": "DivPrune",
    "floc": "FLoC",
}
_RATIOS = (0.25, 0.15, 0.1, 0.05)


def collision() -> str:
    """Return a table of differences with and without collisions, and sentences on collisions."""
    heads = ["GleanVID minus", *(f"{100 * ratio:g} %" for ratio in _RATIOS)]
    rows = [
        [title, *(" / ".join(_difference(name, ratio)) for ratio in _RATIOS)]
        for name, title in _RIVALS.items()
    ]
    alone = "ablation(retention_ratio={}, selection='lrs')"
    pairs = [
        " and ".join(
            f"{100 * row['collision']:.1f}"
            for row in (line_of(_FOLDER, alone.format(ratio)), kept(_FOLDER, "gleanvid", ratio))
        )
        for ratio in _RATIOS
    ]
    both = [_on_both(name, 0.1) for name in ("vcast", "vidcom2", "divprune")]
    report = read(f"{_FOLDER}/collisions.json")
    centred = [
        f"{100 * right:.1f} % ({100 * kept(_FOLDER, 'gleanvid', float(ratio))['collision']:.1f}) "
        f"at {100 * float(ratio):g} %"
        for ratio, right in report["accuracy"].items()
    ]
    return (
        markdown_table(heads, rows)
        + "\nCollision questions at 10 % of which both methods keep a token of every moment: "
        "the same model answers\n" + ";\n".join(both) + ".\n\n"
        "Two parts of GleanVID cost collisions:\n\n"
        "- Adding SCS to LRS. Right answers with LRS alone and with LRS + SCS, in %, at 25, 15, 10 "
        f"and 5 %: {'; '.join(pairs)}.\n"
        "- The first unit, whose novelty is its norm. If it is the distance from the clip's mean "
        "(norm in brackets), the unit takes fewer tokens,\n  and right answers are "
        f"{', '.join(centred)}."
    )


def _difference(name: str, ratio: float) -> list[str]:
    """Return GleanVID minus a method in the mean over seven kinds, and over six, in points."""
    ours, theirs = kept(_FOLDER, "gleanvid", ratio), kept(_FOLDER, name, ratio)
    six = [kind for kind in HARD if kind != "collision"]
    return [
        f"{100 * fmean(ours[kind] - theirs[kind] for kind in kinds):+.1f}" for kinds in (HARD, six)
    ]


def _on_both(name: str, ratio: float) -> str:
    """Compare two methods on the collision questions of which both keep every moment."""
    ours, theirs = (
        _rows()[f"{method}(retention_ratio={ratio})@32"] for method in ("gleanvid", name)
    )
    common = [
        item
        for item in (one.id for one in collisions())
        if all(len({*rows[item]["moments"]}) == 1 for rows in (ours, theirs))
    ]
    right = [100 * fmean(rows[item]["right"][0] for item in common) for rows in (ours, theirs)]
    return (
        f"{right[0]:.1f} % from GleanVID's tokens and {right[1]:.1f} % from {_RIVALS[name]}'s "
        f"({len(common)} questions)"
    )


def lost_with_all_evidence() -> str:
    """Return a table of accuracy with all tokens and with the tokens that a method keeps.

    It covers the hard questions for which the method keeps a token of every moment that decides
    the answer.
    """
    rows = _rows()
    cells = []
    for method, title in _METHODS.items():
        for ratio in _RATIOS[:3]:
            own = rows[f"{method}(retention_ratio={ratio})@32"]
            kept = [item for item, row in own.items() if len({*row["moments"]}) == 1]
            pair = [
                [float(of[item]["right"][0]) for item in kept]
                for of in (rows["full(retention_ratio=1.0)@32"], own)
            ]
            lost = paired_difference(pair[1], pair[0], [item.rpartition("/")[0] for item in kept])
            cells.append(
                [
                    title,
                    f"{100 * ratio:.0f} %",
                    f"{len(kept):,}",
                    *(f"{100 * fmean(right):.1f}" for right in pair),
                    points(vars(lost)),
                ]
            )
    heads = ["method", "kept", "questions", "right, all tokens (%)", "right, kept tokens (%)"]
    return markdown_table([*heads, "difference, points (95 % by clip)"], cells)


@cache
def _rows() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the rows of the table's journal by setup and question."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    with gzip.open(RESULTS / _FOLDER / "journal.jsonl.gz", "rt", encoding="utf-8") as lines:
        next(lines)  # the settings
        for row in map(json.loads, lines):
            if "error" not in row:
                found.setdefault(row["setup"], {})[row["item"]] = row
    return found
