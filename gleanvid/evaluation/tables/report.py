"""Writes results as CSV, JSON and Markdown. A file is written completely or not at all."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gleanvid.evaluation.tables.statistics import Estimate
from gleanvid.evaluation.tables.summary import Result

Cell = str | float | None


def flat(result: Result) -> dict[str, Cell]:
    """One line of the CSV: plain numbers, a column for every group."""
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
    row |= {"p_full": result.p_full, "p_full_clips": result.p_full_clips}
    if pair := result.beside:
        row |= _three("gleanvid_minus", pair.difference)
        row |= {"p_gleanvid": pair.mcnemar, "p_gleanvid_clips": pair.sign_flip}
        for name, estimate in pair.macro.items():
            row |= _three(f"gleanvid_minus {name}", estimate)
    if seen := result.evidence:
        for name, estimate in seen.means.items():
            row |= _three(f"evidence_{name}", estimate)
            row[f"evidence_{name} r"] = seen.correlations[name]
    for name in ("tokens", "tokens_kept", "tokens_mean", "seconds", "saturated"):
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


def _three(name: str, estimate: Estimate) -> dict[str, float]:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def _plain(value: Cell) -> Cell:
    """Rounded for people; what is not a number has no place in JSON."""
    if not isinstance(value, float):
        return value
    return None if math.isnan(value) else round(value, 6)
