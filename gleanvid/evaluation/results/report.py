"""Results on disk: CSV, JSON and Markdown, each whole or not there at all."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.paper.presets import Preset
from gleanvid.evaluation.results.statistics import Estimate, holm
from gleanvid.evaluation.results.summary import Result

_INLINE = 7  # groups that find room beside the average; more get a table of their own


def flat(result: Result) -> dict[str, Any]:
    """One line of the CSV: plain numbers, a column for every group."""
    row: dict[str, Any] = {
        "label": result.setup.title,
        "compressor": result.setup.method.name,
        "setup": result.setup.key,
        "retention_ratio": result.setup.retention_ratio,
        "num_frames": result.setup.num_frames,
        "how": result.how,
        "questions": result.count,
        "failed": result.failed,
        "first_error": result.first_error,
    }
    for name in ("accuracy", "relative", "difference"):
        row |= _three(name, getattr(result, name))
    row |= {"p_full": result.p_full, "p_gleanvid": result.p_gleanvid}
    if result.evidence is not None:
        row |= _three("evidence_kept", result.evidence.kept)
        row |= _three("evidence_represented", result.evidence.represented)
    for name in ("tokens", "tokens_kept", "tokens_mean", "seconds"):
        row[name] = getattr(result, name)
    for group, (estimate, count) in result.groups.items():
        row |= _three(group, estimate) | {f"{group} questions": count}
    return {name: _plain(value) for name, value in row.items()}


def write(folder: Path, facts: Mapping[str, Any], results: Sequence[Result], text: str) -> None:
    """``results.csv``, ``results.json`` (with ``facts`` about the run) and ``table.md``."""
    lines = [flat(result) for result in results]
    names = list(dict.fromkeys(name for line in lines for name in line))
    sheet = io.StringIO()
    writer = csv.DictWriter(sheet, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    whole = dict(facts) | {"results": lines}
    write_whole(folder / "results.csv", sheet.getvalue())
    write_whole(folder / "results.json", json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    write_whole(folder / "table.md", text)


def write_whole(path: Path, text: str) -> None:
    """Write beside ``path`` and rename, so that no reader finds half a file."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def main_table(results: Sequence[Result]) -> str:
    """Markdown: every setup with average, intervals, tests, evidence, tokens and time."""
    groups = group_names(results)
    inline = groups if len(groups) <= _INLINE else []
    heads = ["method", "kept", "frames", "tokens", *inline]
    heads += ["accuracy", "95 %", "% of full", "95 %", "p full", "p GleanVID"]
    heads += ["evidence kept", "represented", "s / question", "failed"]
    rows = []
    for result in results:
        if result.failed == result.count:
            rows.append([*_who(result), *[""] * (len(heads) - 4), str(result.failed)])
            continue
        row = [*_who(result), f"{result.tokens_mean:.0f}"]
        row += [_share(result, name) for name in inline]
        row += [_percent(result.accuracy.value), _span(result.accuracy)]
        row += [_percent(result.relative.value), _span(result.relative)]
        row += [_p(result.p_full), _p(result.p_gleanvid)]
        seen = result.evidence
        row += [_percent(seen.kept.value), _percent(seen.represented.value)] if seen else ["", ""]
        rows.append([*row, f"{result.seconds:.3f}", str(result.failed or "")])
    return markdown_table(heads, rows) + refusals(results)


def refusals(results: Sequence[Result]) -> str:
    """A line for every setup that failed throughout, with the reason."""
    lines = {
        f"{result.setup.key}: {result.first_error.removeprefix('ValueError: ')}\n"
        for result in results
        if result.failed == result.count
    }
    return "\n" + "\n".join(sorted(lines)) if lines else ""


def group_table(results: Sequence[Result]) -> str:
    """Markdown: accuracy of every setup in every group, where the main table has no room."""
    groups = group_names(results)
    if len(groups) <= _INLINE:
        return ""
    heads = ["method", "kept", "frames", *groups, "accuracy"]
    rows = [
        [*_who(result), *(_with_reach(result, name) for name in groups), _bare(result)]
        for result in results
        if result.failed < result.count
    ]
    counts = ["questions", "", "", *(str(results[0].groups[name][1]) for name in groups)]
    return markdown_table(heads, [*rows, [*counts, str(results[0].count)]])


def preset_table(preset: Preset, results: Sequence[Result]) -> str:
    """Markdown in the shape of the paper's table; ``results`` are all tokens and the variants.

    The relative performance has its drop below GleanVID's in brackets, in points.
    """
    names = group_names(results)
    groups = names if len(names) <= _INLINE else []
    several = len({result.setup.num_frames for result in results}) > 1
    ours = [result.relative.value for result in results if result.p_gleanvid is None][1:]
    heads = [preset.heading, *(["frames", "kept"] if several else []), *groups]
    heads += ["overall", "95 %", "rel. perf. (%)", "p GleanVID"]
    heads += ["evidence kept"] if results[0].evidence else []
    rows = []
    for result in results:
        place = [str(result.setup.num_frames), f"{result.setup.retention_ratio:.0%}"]
        relative = _percent(result.relative.value)
        if result.p_gleanvid is not None and ours and not several:
            points = 100 * (result.relative.value - ours[0])
            relative += f" ({points:+.1f})"
        shares = [_share(result, name) for name in groups]
        row = [result.setup.title, *(place if several else []), *shares]
        row += [_bare(result), _span(result.accuracy), relative, _p(result.p_gleanvid)]
        row += [_percent(result.evidence.kept.value)] if result.evidence else []
        rows.append(row)
    return markdown_table(heads, rows)


def standing(results: Sequence[Result]) -> str:
    """Markdown: for every ratio, which methods GleanVID is ahead of, level with and behind.

    A difference is called one where McNemar's p, adjusted by Holm over the methods at that ratio,
    is below 0.05; the points are GleanVID's accuracy minus the other's.
    """
    lines = []
    for ours in (result for result in results if result.setup.method.name == GleanVID.name):
        rivals = [
            other
            for other in results
            if other.p_gleanvid is not None
            and other.failed < other.count
            and other.setup.num_frames == ours.setup.num_frames
            and other.setup.retention_ratio == ours.setup.retention_ratio
        ]
        if not rivals or ours.p_gleanvid is not None:
            continue
        found: dict[str, list[str]] = {"ahead of": [], "not told apart from": [], "behind": []}
        adjusted = holm([other.p_gleanvid or 0.0 for other in rivals])
        for other, p in zip(rivals, adjusted, strict=True):
            points = 100 * (ours.accuracy.value - other.accuracy.value)
            side = "ahead of" if points > 0 else "behind"
            side = side if p < 0.05 else "not told apart from"
            found[side].append(f"{other.setup.title} ({points:+.1f})")
        told = "; ".join(f"{side} {', '.join(names)}" for side, names in found.items() if names)
        lines.append(f"- {ours.setup.retention_ratio:.0%} kept: {told}.")
    return "GleanVID by ratio (Holm-adjusted p < 0.05):\n\n" + "\n".join(lines) if lines else ""


def group_names(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(name for result in results for name in result.groups))


def _who(result: Result) -> list[str]:
    setup = result.setup
    return [setup.title, f"{setup.retention_ratio:.0%}", str(setup.num_frames)]


def _share(result: Result, group: str) -> str:
    return _percent(result.groups[group][0].value) if group in result.groups else ""


def _with_reach(result: Result, group: str) -> str:
    """A share with half the width of its interval."""
    if group not in result.groups:
        return ""
    estimate = result.groups[group][0]
    return f"{100 * estimate.value:.1f} ± {50 * (estimate.high - estimate.low):.1f}"


def _bare(result: Result) -> str:
    return "failed" if result.failed == result.count else _percent(result.accuracy.value)


def _percent(value: float) -> str:
    return "" if math.isnan(value) else f"{100 * value:.1f}"


def _span(estimate: Estimate) -> str:
    return "" if math.isnan(estimate.low) else f"{100 * estimate.low:.1f}–{100 * estimate.high:.1f}"


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _three(name: str, estimate: Estimate) -> dict[str, float]:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def _plain(value: Any) -> Any:
    """Rounded for people; what is not a number has no place in JSON."""
    if not isinstance(value, float):
        return value
    return None if math.isnan(value) else round(value, 6)
