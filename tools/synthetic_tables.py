"""Tables of the results on synthetic worlds (kinds of made-up clips), from means over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.statistics import clip_mean
from tools.rows_and_table import standings
from tools.synthetic_worlds import (
    BEST,
    GRID,
    MEASURES,
    METHODS,
    RATIOS,
    SIDE,
    UNITS,
    WIDTH,
    place_of,
)

REGRET = "regret"
TEXT = """# Synthetic worlds

{clips} made-up clips of {units} units of {side} x {side} tokens, width {width}: {worlds} worlds,
{seeds} seeds each, over {grid}.
No model is involved. Written by

    python -m tools.synthetic_worlds --seeds {seeds} --out results/synthetic

coverage error: share of the energy of dropped tokens outside the span of the kept ones (`gleanvid
diagnose`), debiased; objects: fraction of the objects of which a token is kept. "{best}"
picks one after another the token that explains most of what all tokens still miss: it sees the
whole clip and looks at coverage alone, so it is not the best in objects or rank. regret: coverage
error beyond that of the greedy optimum in the same world. In brackets 95 % by bootstrap over
worlds. The backgrounds of these worlds drift slowly and evenly, which suits
spread-out choices such as Uniform; filmed clips need not be like them.
"""


def document(means: Sequence[Mapping[str, Any]]) -> str:
    """Return the results page from the rows of means.csv."""
    worlds, seeds = len({_world(row) for row in means}), int(means[0]["seeds"])
    about = TEXT.format(
        clips=worlds * seeds,
        worlds=worlds,
        seeds=seeds,
        grid=", ".join(f"{name} {values}" for name, values in GRID.items()),
        units=UNITS,
        side=SIDE,
        width=WIDTH,
        best=BEST,
    )
    return about + standing(means) + table(means)


def _world(row: Mapping[str, Any]) -> tuple[float, ...]:
    return tuple(row[name] for name in GRID)


def table(means: Sequence[Mapping[str, Any]]) -> str:
    """Return Markdown: means over all worlds, then coverage error by each property of worlds."""
    best = {place_of(row): row["coverage error"] for row in means if row["method"] == BEST}
    means = [{**row, REGRET: row["coverage error"] - best[place_of(row)]} for row in means]
    text = "\n## All worlds\n\n"
    for measure_name in (REGRET, *MEASURES):
        text += f"{measure_name}:\n\n" + _by(means, "ratio", RATIOS, measure_name) + "\n"
    middle = [row for row in means if row["ratio"] == 0.08]
    for name, values in GRID.items():
        text += f"## Coverage error at 8 %, by {name}\n\n"
        text += _by(middle, name, values, "coverage error") + "\n"
    return text


def _by(means: Sequence[Mapping[str, Any]], key: str, values: Sequence[Any], measure: str) -> str:
    """Return a table of means over worlds with 95 % intervals, by method and value of ``key``."""
    cells: dict[tuple[str, Any], list[Mapping[str, Any]]] = {}
    for row in means:
        cells.setdefault((row["method"], row[key]), []).append(row)
    lines = [
        [name, *(_interval(cells[name, value], measure) for value in values)]
        for name in (BEST, *METHODS)
        if (name, measure) != (BEST, REGRET)
    ]
    heads = [f"{value:.0%}" if key == "ratio" else f"{key} {value}" for value in values]
    return markdown_table(["method", *heads], lines)


def _interval(group: Sequence[Mapping[str, Any]], measure: str) -> str:
    found = clip_mean([row[measure] for row in group], [place_of(row) for row in group])
    digits = {"objects": 2, "effective rank": 0}.get(measure, 3)
    return f"{found.value:.{digits}f} ({found.low:.{digits}f} to {found.high:.{digits}f})"


def standing(means: Sequence[Mapping[str, Any]]) -> str:
    """Return sentences that compare GleanVID's coverage error with others', Holm-corrected."""
    errors: dict[tuple[str, float], list[float]] = {}
    for row in means:
        errors.setdefault((row["method"], row["ratio"]), []).append(row["coverage error"])
    gaps = {
        (ratio, name): [
            theirs - ours
            for ours, theirs in zip(errors["GleanVID", ratio], errors[name, ratio], strict=True)
        ]
        for ratio in RATIOS
        for name in METHODS
        if name != "GleanVID"
    }
    told = [f"- {ratio:.0%}: {text}.\n" for ratio, text in standings(gaps).items()]
    return (
        "\n## GleanVID against the others\n\nCoverage error, sign-flip by world, Holm over all "
        f"{len(gaps)} comparisons, p < 0.05.\n\n" + "".join(told)
    )
