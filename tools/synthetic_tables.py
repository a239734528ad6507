"""The tables of the synthetic worlds, from the means over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.statistics import clip_mean, holm, sign_flip
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


def text_of(means: Sequence[Mapping[str, Any]], worlds: int, seeds: int) -> str:
    """The whole page, of so many worlds with so many seeds each."""
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


def table(means: Sequence[Mapping[str, Any]]) -> str:
    """Markdown: over all worlds, then the coverage error by one property of the world at a time."""
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
    """Mean and 95 % by bootstrap over worlds for every method and value of ``key``."""
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
    """Where GleanVID's coverage error differs from others', by world, under one Holm correction."""
    errors: dict[tuple[str, float], list[float]] = {}
    for row in means:
        errors.setdefault((row["method"], row["ratio"]), []).append(row["coverage error"])
    pairs = [(ratio, name) for ratio in RATIOS for name in METHODS if name != "GleanVID"]
    gaps = {
        (ratio, name): [
            theirs - ours
            for ours, theirs in zip(errors["GleanVID", ratio], errors[name, ratio], strict=True)
        ]
        for ratio, name in pairs
    }
    ps = holm([sign_flip(gaps[pair], range(len(gaps[pair]))) for pair in pairs])
    told = {pair: sum(gaps[pair]) > 0 for pair, p in zip(pairs, ps, strict=True) if p < 0.05}
    text = (
        "\n## GleanVID against the others\n\nCoverage error, sign-flip by world, Holm over all "
        f"{len(pairs)} comparisons, p < 0.05; others are not told apart.\n\n"
    )
    for ratio in RATIOS:
        sides = (
            ", ".join(name for of, name in told if of == ratio and told[of, name] is side)
            for side in (True, False)
        )
        text += "- {:.0%}: ahead of {}; behind {}.\n".format(
            ratio, *(side or "none" for side in sides)
        )
    return text
