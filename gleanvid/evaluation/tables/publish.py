"""Writes all files of a finished evaluation: results, tables and figures."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

from gleanvid.compressors import method_from
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.evaluation.benchmarks.base import Benchmark, Item
from gleanvid.evaluation.files import csv_text, whole_file, write_whole
from gleanvid.evaluation.run.setups import Setup
from gleanvid.evaluation.tables.comparisons import ACCURACY, holm_of_page, paired_table
from gleanvid.evaluation.tables.result_tables import (
    evidence_table,
    group_table,
    main_table,
    relevance_table,
)
from gleanvid.evaluation.tables.statistics import Estimate
from gleanvid.evaluation.tables.summary import REFERENCE, Result, Rows, results
from gleanvid.plots.accuracy import Point, group_figure, retention_figure

Cell = str | float | None
NOTES = """\
accuracy: 95 % Wilson interval over questions, and a bootstrap over clips ("95 %, clips"), which
holds where questions about one clip are not independent. macro: mean over the kinds of questions,
where kinds with fewer than 15 questions count as one kind; the bootstrap computes the mean of every
kind again in every draw of clips. % of full: accuracy divided by that with all tokens, 95 % by
bootstrap over clips. kept: the requested retention ratio; tokens: visual tokens of a clip, mean
over the layers of the language model. s / question: seconds to compress, prefill and respond,
where the questions about a clip share its prefill; without encoding. A question that failed counts
as wrong. A method that chooses at random is averaged over five seeds, with a bootstrap over clips
as its interval.
p: sign-flip test, clip by clip, two-sided, not adjusted. Holm: adjusted for all comparisons of
this page. Intervals and tests are about questions and clips, for one checkpoint: another training
run of the same model may order methods differently.
evidence: the tokens that show what a question asks about. Fractions of it are computed per question
and averaged over questions. tokens: evidence tokens kept in place; of reachable: these, divided by
the most that the budget could keep; things: things with at least one kept token; moments: the same
for pairs of a thing and a temporal unit; represented: evidence tokens in any kept row. r:
correlation, over the questions of a row, of the fraction with right answers.
"""


def publish(
    folder: Path,
    benchmark: Benchmark,
    items: Sequence[Item],
    setups: Sequence[Setup],
    rows: Rows,
    ways: Sequence[str],
    facts: Mapping[str, Any],
    kind: str = "png",
    metric: str = ACCURACY,
    reference: str = REFERENCE,
) -> list[Result]:
    """Write ``results.csv``, ``results.json``, ``table.md`` and figures; return the results.

    ``kind``: the figures' format, "png", "pdf" or "svg". ``metric``: the average by which tests
    compare methods, "accuracy" or the name of a macro-average (:func:`macros_of`).
    ``reference``: the method that the others are compared with.
    """
    found = results(benchmark, items, setups, rows, ways, reference)
    title = Setup(method_from(reference), 1).title
    adjusted = holm_of_page(found, metric)
    parts = [_heading(benchmark, items, facts)]
    ways = list(dict.fromkeys(result.how for result in found))
    for how in ways:
        if len(ways) > 1:
            parts.append(f"## By {how}")
        those = [result for result in found if result.how == how]
        parts += [main_table(those), paired_table(those, adjusted, metric, title)]
        parts += [evidence_table(those), relevance_table(those), group_table(those)]
    parts.append(NOTES)
    text = "\n".join(part.rstrip() + "\n" for part in parts if part)
    write(folder, facts, found, text, reference)
    draw(folder, [result for result in found if result.how == ways[0]], facts, kind)
    return found


def draw(
    folder: Path, found: Sequence[Result], facts: Mapping[str, Any], kind: str = "png"
) -> None:
    """Write figures of accuracy, evidence and relevance kept; ``kind``: "png", "pdf" or "svg"."""
    full = found[0].accuracy.value
    about = f"{facts['benchmark']['benchmark']}, {facts['model']}, {found[0].count} questions"
    curves = _curves(found, attrgetter("accuracy"))
    pictures: dict[str, tuple[str, float | None, dict[str, list[Point]]]] = {
        "accuracy": ("accuracy (%)", full, curves)
    }
    if found[0].evidence is not None:
        kept = _curves(found, attrgetter("evidence.kept"))
        taken = _curves(found, attrgetter("evidence.represented"))
        pictures["evidence"] = ("evidence tokens kept in place (%)", None, kept)
        if any(kept[name] != taken[name] for name in kept):
            title = "evidence tokens kept or merged (%)"
            pictures["evidence_represented"] = (title, None, taken)
    if found[0].relevance is not None:
        kept = _curves(found, attrgetter("relevance.kept"))
        pictures["relevance"] = ("relevance kept (%)", None, kept)
    for name, (y_title, level, curves) in pictures.items():
        if curves:
            _save(retention_figure(curves, y_title, level, about), folder / f"{name}.{kind}")
    panels = {name: f"{name} ({count})" for name, (_, count) in found[0].groups.items()}
    groups = {panel: _curves(found, _of_group(name)) for name, panel in panels.items()}
    if len(groups) > 1 and any(groups.values()):
        whole = {panel: found[0].groups[name][0].value for name, panel in panels.items()}
        _save(group_figure(groups, whole, about), folder / f"groups.{kind}")


def _of_group(name: str) -> Callable[[Result], Estimate]:
    return lambda result: result.groups[name][0]


def _save(figure: Any, path: Path) -> None:
    with whole_file(path) as part:
        figure.savefig(part, format=path.suffix[1:], dpi=120)


def _curves(found: Sequence[Result], value: Callable[[Result], Estimate]) -> dict[str, list[Point]]:
    curves: dict[str, list[Point]] = {}
    for result in found:
        if not isinstance(result.setup.method, FullTokens) and not result.blank:
            share, here = result.tokens_mean / result.tokens, value(result)
            point = (share, here.value, here.low, here.high)
            curves.setdefault(result.setup.title, []).append(point)
    return curves


def _heading(benchmark: Benchmark, items: Sequence[Item], facts: Mapping[str, Any]) -> str:
    clips = len({item.clip for item in items})
    lines = [f"# {benchmark.name}: {len(items)} questions about {clips} clips", ""]
    lines += [f"    {facts['command']}", ""] if facts.get("command") else []
    settings = ", ".join(f"{name} {value}" for name, value in facts["benchmark"].items() if value)
    lines.append(f"Model {facts['model']} ({facts['model_weights']}); {settings}.")
    return "\n".join(lines)


def flat(result: Result, reference: str = REFERENCE) -> dict[str, Cell]:
    """Return a result as one line of the CSV file: texts and numbers by column."""
    row: dict[str, Cell] = {
        "label": result.setup.title,
        "compressor": result.setup.method.name,
        "setup": result.setup.key,
        "retention_ratio": result.setup.retention_ratio,
        "num_frames": result.setup.num_frames,
        "how": result.how,
        "questions": result.count,
        "draws": result.draws,
        "failed": result.failed,
        "first_error": result.first_error,
    }
    for name in ("accuracy", "by_clip", "relative", "difference"):
        row |= _three(name, getattr(result, name))
    for name, estimate in result.macro.items():
        row |= _three(name, estimate)
    row["p_full_clips"] = result.p_full_clips
    if pair := result.comparison:
        row |= _three(f"{reference}_minus", pair.difference)
        row[f"p_{reference}_clips"] = pair.sign_flip
        for name, estimate in pair.macro.items():
            row |= _three(f"{reference}_minus {name}", estimate)
            row[f"p_{reference}_clips {name}"] = pair.macro_sign_flip[name]
    if seen := result.evidence:
        for name, estimate in seen.means.items():
            row |= _three(f"evidence_{name}", estimate)
            row[f"evidence_{name} r"] = seen.correlations[name]
    if kept := result.relevance:
        row |= _three("relevance_kept", kept.kept) | _three("relevance_best", kept.best)
        row |= {"relevance_random": kept.random, "relevance_kept r": kept.r}
    for name in ("tokens", "tokens_kept", "tokens_mean", "seconds", "saturated"):
        row[name] = getattr(result, name)
    for group, (estimate, count) in result.groups.items():
        row |= _three(group, estimate) | {f"{group} questions": count}
    return {name: _plain(value) for name, value in row.items()}


def write(
    folder: Path,
    facts: Mapping[str, Any],
    results: Sequence[Result],
    text: str,
    reference: str = REFERENCE,
) -> None:
    """Write ``results.csv``, ``results.json`` (with ``facts`` about the run) and ``table.md``."""
    lines = [flat(result, reference) for result in results]
    names = list(dict.fromkeys(name for line in lines for name in line))
    whole = dict(facts) | {"results": lines}
    write_whole(folder / "results.csv", csv_text(names, lines))
    write_whole(folder / "results.json", json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    write_whole(folder / "table.md", text)


def _three(name: str, estimate: Estimate) -> dict[str, float]:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def _plain(value: Cell) -> Cell:
    """Round numbers; NaN becomes None, which JSON can hold."""
    if not isinstance(value, float):
        return value
    return None if math.isnan(value) else round(value, 6)
