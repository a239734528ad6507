"""The tables of ``tools.filmed_evidence``: results of every method on filmed clips."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.statistics import Estimate, clip_mean, holm, sign_flip
from tools.filmed_clips import CLIPS

RATIOS = (0.25, 0.15, 0.10, 0.05)
CRF = 28  # H.264 constant rate factor of the re-encoded copy: visibly coarser than a camera's
# columns in which GleanVID is tested against other methods; -1: a lower value is better
PRIMARY = {"labels": 1, "frame top 5": 1, "clip KL": -1}
KEYS = ("clip", "method", "frames", "ratio")
COLUMNS = (
    *PRIMARY,
    "clip top 5",
    "ridge R2",
    "coverage error",
    "raw coverage error",
    "residual energy",
    "effective rank",
    "IoU over time",
    "Gini",
    "r with change",
    "at cuts",
    "same, re-encoded",
    "same, shifted",
)
TEXT = """# Filmed clips

{clips} filmed clips, {frames} frames each, encoded by MobileNetV2 (ImageNet weights); tokens before
its average pooling, {tokens}. No language model: nothing here is an answer.

    python -m tools.filmed_clips --out CLIPS
    python -m tools.filmed_evidence CLIPS --frames {frames} --out results/filmed

labels: fraction of the labels of all tokens (likeliest class, probability at least one half) that a
kept row still has. frame top 5, clip top 5: the encoder's classifier on the mean of the kept rows
against the mean of all tokens, classes in common among the five likeliest; a frame without a kept
row counts 0. clip KL: the same, in nats. ridge R2: dropped tokens of odd frames guessed from the
two nearest kept rows, fitted on even frames. coverage error, residual energy (after the first
unit) and effective rank are those of `gleanvid diagnose`; raw: without debiasing. IoU over time:
kept positions, mean over gaps of 1 frame to all. r with change: rank correlation of a frame's
tokens with the change of its pixels; "-" where all frames have as many. at cuts: tokens of the
first frame after a cut over the mean of the others, the first one left out; cuts were read off by
eye, and "-" stands where the clips have none. same: kept positions in common (IoU) with
those of an H.264 copy (CRF {crf}) and of a copy one pixel to the right, at 10 %.

Means over clips; in brackets 95 % by bootstrap over clips. Clips of one package are not fully
independent, so intervals are narrower than they should be. A method that refuses a ratio is not in
its table. Resize and Pool keep averages, which is what the classifier was trained on: the first
four columns favour them.
"""


ROWS = Path(__file__).parents[1] / "results" / "filmed" / "rows.csv"
SHORT = {  # methods in the short table of docs/limits.md -> title
    "gleanvid": "GleanVID",
    "ablation(selection=scs)": "SCS alone",
    "uniform": "Uniform",
    "resize": "Resize",
}
Groups = Mapping[tuple[str, float], Sequence[Mapping[str, Any]]]


def document(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return Markdown: what was measured, the clips with their licences, and the tables."""
    (frames,) = {int(row["frames"]) for row in rows}
    measured = {row["clip"] for row in rows}
    text = TEXT.format(clips=len(measured), frames=frames, tokens="about 8 x 8 a frame", crf=CRF)
    cells = [
        [f"`{c.file}`", c.shows, str(len(c.cuts)), c.package.name, c.package.licence]
        for c in CLIPS
        if c.stem in measured
    ]
    heads = ["file", "shows", "cuts", "package", "licence"]
    return f"{text}\n## The clips\n\n{markdown_table(heads, cells, numbers=False)}{table(rows)}"


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of ``rows.csv``; values that look like numbers become floats, "" NaN."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(file)]


def _value(text: str) -> float | str:
    try:
        return float(text or "nan")
    except ValueError:
        return text


def summary() -> str:
    """Return a table of what four methods keep of a classifier's view at 10 %, in per cent."""
    rows = [row for row in read_rows(ROWS) if row["ratio"] == 0.1]
    lines = [
        [
            title,
            *(
                _percent([row for row in rows if row["method"] == name], column)
                for column in ("labels", "frame top 5")
            ),
        ]
        for name, title in SHORT.items()
    ]
    heads = ["at 10 %", "labels kept (%)", "top-5 classes of a frame's mean kept (%)"]
    return markdown_table(heads, lines)


def _percent(group: Sequence[Mapping[str, Any]], column: str) -> str:
    found = _mean(group, column)
    return f"{100 * found.value:.0f} ({100 * found.low:.0f} to {100 * found.high:.0f})"


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return Markdown: a table per retention ratio, then tests of GleanVID against each method."""
    groups: dict[tuple[str, float], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["method"], row["ratio"]), []).append(row)
    text = ""
    for ratio in RATIOS:
        cells = [
            [f"`{name}`", *(_cell(group, column) for column in COLUMNS)]
            for (name, of), group in groups.items()
            if of == ratio and not math.isnan(_mean(group, "coverage error").value)
        ]
        text += f"\n## {ratio:.0%} kept\n\n{markdown_table(['method', *COLUMNS], cells)}"
    return f"{text}\n{_differences(groups)}"


def _cell(group: Sequence[Mapping[str, Any]], column: str) -> str:
    found = _mean(group, column)
    if math.isnan(found.value):
        return "-"
    digits = 0 if column == "effective rank" else 2
    interval = f" ({found.low:.{digits}f} to {found.high:.{digits}f})"
    return f"{found.value:.{digits}f}" + interval * (column in PRIMARY)


def _mean(group: Sequence[Mapping[str, Any]], column: str) -> Estimate:
    counted = [row for row in group if not math.isnan(row.get(column, math.nan))]
    if not counted:
        return Estimate(math.nan, math.nan, math.nan)
    return clip_mean([row[column] for row in counted], [row["clip"] for row in counted])


def _differences(groups: Groups) -> str:
    """Return sentences that compare GleanVID with each method, under one Holm correction."""
    compared, ps = [], []
    for (name, ratio), group in groups.items():
        ours = {row["clip"]: row for row in groups.get(("gleanvid", ratio), ())}
        for column, sign in PRIMARY.items() if name != "gleanvid" else ():
            both = [row for row in group if row["clip"] in ours and column in row]
            pairs = [(ours[row["clip"]][column], row[column], row["clip"]) for row in both]
            pairs = [pair for pair in pairs if not math.isnan(pair[0] - pair[1])]
            if not pairs:
                continue
            gaps = [sign * (first - second) for first, second, _ in pairs]
            compared.append((ratio, column, name, sum(gaps)))
            ps.append(sign_flip(gaps, [clip for *_, clip in pairs]))
    adjusted = holm(ps)
    lines = [
        f"GleanVID against each method: sign-flip by clip, Holm over all {len(ps)} comparisons, "
        "p < 0.05. Methods that are not named are not told apart.\n"
    ]
    for ratio in RATIOS:
        for column in PRIMARY:
            told = [
                (gap > 0, name)
                for (of, what, name, gap), p in zip(compared, adjusted, strict=True)
                if of == ratio and what == column and p < 0.05
            ]
            ahead, behind = (
                ", ".join(f"`{name}`" for better, name in told if better is side) or "none"
                for side in (True, False)
            )
            lines.append(f"- {ratio:.0%}, {column}: ahead of {ahead}; behind {behind}.")
    return "\n".join(lines) + "\n"
