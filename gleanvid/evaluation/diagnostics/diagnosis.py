"""Averages the metrics of ``diagnose_clips`` over clips, and writes tables and figures.

Intervals are Student's t intervals over clips, which also hold for few clips.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from statistics import fmean
from typing import Any

from gleanvid.evaluation.diagnostics.diagnose import POSITION_RATIO, SELECTION_RATIO, Row, Skipped
from gleanvid.evaluation.files import csv_text, write_whole
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.statistics import student_mean

_CURVES = ("spatial_iou", "random_iou")
_KEYS = ("clip", "part", "name", "retention_ratio")
_METRICS = [field.name for field in fields(Row) if field.name not in (*_KEYS, *_CURVES)]
_HALF = "_half"  # NAME_half is half the width of the 95 % interval of the metric NAME
_RANKS = {
    "effective_rank": "singular values",
    "energy_rank": "energy",
    "centred_energy_rank": "centred energy",
    "raw_effective_rank": "singular values, raw",
}
_MISSED = {
    "later_residual_energy": "residual energy after the first unit",
    "coverage_error": "coverage error",
    "raw_coverage_error": "coverage error, raw",
    "energy_outside_picked": "outside all earlier picks",
    "budget_gini": "Gini of budgets",
}
_SELECTED = {
    "effective_rank": "effective rank",
    "residual_energy": "residual energy",
    "later_residual_energy": "after the first unit",
    "coverage_error": "coverage error",
    "energy_outside_span": "outside all earlier rows",
}


def summary(rows: Sequence[Row], skipped: Sequence[Skipped]) -> dict[str, Any]:
    """Return means over clips, as values that JSON can hold.

    - "effective_dimension": effective rank by compressor and retention ratio;
    - "positions": overlap of the positions kept in different temporal units, by compressor, at the
      ratio ``POSITION_RATIO``;
    - "selections": metrics of each way to select tokens, at the ratio ``SELECTION_RATIO``;
    - "means": all metrics by compressor and ratio.
    """
    measured = _by_setting(rows, "compressor")
    selections = _by_setting(rows, "selection")
    dimension: dict[str, dict[str, float]] = {}
    for (name, ratio), group in measured.items():
        dimension.setdefault(name, {})[f"{ratio:g}"] = _mean(group, "effective_rank")
    at_position = {n: group for (n, ratio), group in measured.items() if ratio == POSITION_RATIO}
    return {
        "clips_measured": len({row.clip for row in rows}),
        "effective_dimension": dimension,
        "positions": {name: _positions(group) for name, group in at_position.items()},
        "selections": {name: _means(group) for (name, _), group in selections.items()},
        "means": [
            {"compressor": name, "retention_ratio": ratio, "clips": len(group)} | _means(group)
            for (name, ratio), group in measured.items()
        ],
        "skipped": [asdict(item) for item in skipped],
    }


def _by_setting(rows: Sequence[Row], part: str) -> dict[tuple[str, float], list[Row]]:
    groups: dict[tuple[str, float], list[Row]] = {}
    for row in rows:
        if row.part == part:
            groups.setdefault((row.name, row.retention_ratio), []).append(row)
    return groups


def _mean(rows: Sequence[Row], name: str) -> float:
    return fmean(getattr(row, name) for row in rows)


def _means(rows: Sequence[Row]) -> dict[str, float | None]:
    """Return the mean of each metric by name, and half its 95 % interval; None if undefined."""
    found: dict[str, float | None] = {}
    for name in _METRICS:
        mean = student_mean([getattr(row, name) for row in rows])
        both = {name: mean.value, name + _HALF: mean.high - mean.value}
        found |= {key: None if math.isnan(value) else value for key, value in both.items()}
    return found


def _positions(rows: Sequence[Row]) -> dict[str, Any]:
    """Return how much the positions kept in two temporal units overlap (IoU), mean over clips.

    There is one value for each gap of 1 to 20 units, and the mean over gaps. The value of a gap is
    the mean of the clips that are long enough for it; None if there are none.
    """
    curve = _over_clips([row.spatial_iou for row in rows])
    random = _over_clips([row.random_iou for row in rows])
    return {
        "spatial_iou": _known_mean(curve),
        "random_iou": _known_mean(random),
        "by_gap": curve,
        "random_by_gap": random,
    }


def _over_clips(curves: Sequence[Sequence[float]]) -> list[float | None]:
    return [_known_mean(values) for values in zip(*curves, strict=True)]


def _known_mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None and not math.isnan(value)]
    return fmean(known) if known else None


def write(
    folder: Path, facts: Mapping[str, Any], rows: Sequence[Row], skipped: Sequence[Skipped]
) -> dict[str, Any]:
    """Write ``diagnosis.csv`` (one line per measurement), ``.json``, ``.md`` and the figures."""
    found = dict(facts) | summary(rows, skipped)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "diagnosis.csv", _sheet(rows))
    write_whole(folder / "diagnosis.json", json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    write_whole(folder / "diagnosis.md", text(found))
    draw(folder, found)
    return found


def _sheet(rows: Sequence[Row]) -> str:
    lines = [
        asdict(row) | {name: _known_mean(getattr(row, name)) for name in _CURVES} for row in rows
    ]
    return csv_text([*_KEYS, *_METRICS, *_CURVES], lines)


def text(found: Mapping[str, Any]) -> str:
    """Return a Markdown report with the values of the paper's diagnosis and of its figures."""
    kept = [[row["compressor"], f"{row['retention_ratio']:.3g}"] for row in found["means"]]
    ranks = [[_cell(row, key, ".1f") for key in _RANKS] for row in found["means"]]
    missed = [[_cell(row, key, ".2g") for key in _MISSED] for row in found["means"]]
    positions = [
        [name, _number(row["spatial_iou"]), _number(row["random_iou"])]
        for name, row in found["positions"].items()
    ]
    selections = [
        [name, *(_cell(row, key, ".3g") for key in _SELECTED)]
        for name, row in found["selections"].items()
    ]
    parts = [
        f"# Diagnosis: {found['model']}, {found['num_frames']} frames, "
        f"mean of {found['clips_measured']} clips ± half of Student's 95 % interval over clips",
        *([f"`{found['command']}`"] if "command" in found else []),
        "## Effective dimension of the kept tokens",
        "exp of the entropy of the singular values, of their squares (energy), and of the squares "
        "after subtracting the mean (centred). Tokens are debiased except in the column 'raw'.",
        markdown_table(["compressor", "kept", *_RANKS.values()], _joined(kept, ranks)),
        "## New energy of kept tokens, missed energy of dropped tokens",
        "Residual energy: fraction of the energy of kept tokens outside the span of earlier units. "
        "Coverage error: fraction of the energy of dropped tokens outside the span of all kept "
        "tokens. Outside all earlier picks: fraction of the energy of kept tokens outside the span "
        "of tokens picked before them, for methods that pick one by one. Gini of budgets: how "
        "unevenly kept tokens are spread over the units.",
        markdown_table(["compressor", "kept", *_MISSED.values()], _joined(kept, missed)),
        f"## Spatial IoU over gaps of 1 to {_widest(found)} units, {POSITION_RATIO:.0%} kept",
        markdown_table(["compressor", "spatial IoU", "random, same budgets"], positions),
        f"## Selections at identical budgets, {SELECTION_RATIO:.0%} kept",
        markdown_table(["selection", *_SELECTED.values()], selections),
    ]
    if found["skipped"]:
        parts += ["## Not measured", "\n".join(_reasons(found["skipped"]))]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _cell(row: Mapping[str, Any], key: str, digits: str) -> str:
    """Format a metric as mean ± half the width of its interval; "" if it has no value."""
    if row[key] is None:
        return ""
    half = row[key + _HALF]
    return f"{row[key]:{digits}}" + ("" if half is None else f" ± {half:{digits}}")


def _joined(left: Sequence[list[str]], right: Sequence[list[str]]) -> list[list[str]]:
    return [[*some, *more] for some, more in zip(left, right, strict=True)]


def _widest(found: Mapping[str, Any]) -> int:
    """Return the largest gap between two temporal units, up to 20, for which an IoU is known."""
    curves = [row["by_gap"] for row in found["positions"].values()]
    return max((sum(value is not None for value in curve) for curve in curves), default=0)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _reasons(skipped: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each failed clip or compressor, with the number of clips if several."""
    lines = Counter(f"{_what(item)}: {item['reason']}" for item in skipped)
    return [f"- {line}" + (f" ({n} clips)" if n > 1 else "") for line, n in lines.items()]


def _what(item: Mapping[str, Any]) -> str:
    ratio = f" at {item['retention_ratio']:g}" if item["retention_ratio"] else ""
    return item["name"] + ratio if item["name"] else item["clip"]


def draw(folder: Path, found: Mapping[str, Any]) -> None:
    """Plot effective dimension, overlap of positions, and selections, each as PDF and PNG."""
    from gleanvid.plots import paper

    dimension = {
        name: {float(ratio): value for ratio, value in row.items()}
        for name, row in found["effective_dimension"].items()
        if name != "full"
    }
    names = list(found["effective_dimension"])
    positions = {
        name: [value for value in row["by_gap"] if value is not None]
        for name, row in found["positions"].items()
    }
    figures = {"effective_dimension": paper.effective_dimension(dimension, names)}
    if positions:
        first = next(iter(found["positions"].values()))
        random = [value for value in first["random_by_gap"] if value is not None]
        figures["spatial_iou"] = paper.spatial_iou(positions, random, names)
    if found["selections"]:
        figures["complementarity"] = paper.complementarity(found["selections"])
    for name, figure in figures.items():
        for ending in ("pdf", "png"):
            paper.save_figure(figure, folder / f"{name}.{ending}")
