"""Tables and sentences with measured figures, each from the files in ``results/``."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gleanvid.compressors import COMPRESSORS
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.statistics import clip_mean

RESULTS = Path(__file__).parents[1] / "results"
_RATIOS = (0.5, 0.25, 0.15, 0.1, 0.05)
_METHODS = {"gleanvid": "GleanVID", "vidcom2": "VidCom2", "random": "Random", "uniform": "Uniform"}
_LABELS = {"ablation(selection=lrs)": "LRS alone", "ablation(selection=scs)": "SCS alone"}
_FILMED = {
    "gleanvid": "GleanVID",
    "ablation(selection=scs)": "SCS alone",
    "uniform": "Uniform",
    "resize": "Resize",
}
_MEASURES = {  # column of results.json -> name in the table
    "accuracy": "accuracy",
    "macro without count": "macro, without `count`",
    "evidence_moments": "evidence kept",
}


def read(name: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((RESULTS / name).read_text(encoding="utf-8"))
    return report


def results(folder: str) -> list[dict[str, Any]]:
    """Return an evaluation's result rows, one for each setup and response mode ("text", ...)."""
    lines: list[dict[str, Any]] = read(f"{folder}/results.json")["results"]
    return lines


def line_of(folder: str, setup: str, how: str | None = None) -> dict[str, Any]:
    return next(
        line
        for line in results(folder)
        if line["setup"].startswith(f"{setup}@") and how in (None, line["how"])
    )


def kept(folder: str, name: str, ratio: float) -> dict[str, Any]:
    """Return the row of an evaluation's ``results.json`` for a method at a retention ratio."""
    return line_of(folder, f"{name}(retention_ratio={ratio})")


def full(folder: str, how: str | None = None) -> dict[str, Any]:
    return line_of(folder, "full(retention_ratio=1.0)", how)


def points(gap: Mapping[str, float]) -> str:
    """Format a difference with its interval in percentage points."""
    value, low, high = (100 * gap[name] for name in ("value", "low", "high"))
    return f"{value:+.1f} ({low:.1f} to {high:.1f})"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def compress_time() -> str:
    """Return sentences on GleanVID's time relative to VidCom2's and to X @ X^T (X: the tokens)."""
    rows = read("cpu-2-cores/compress_32x14x14x3584.json")["rows"]
    ours = next(row for row in rows if row["compressor"] == "gleanvid")
    return (
        "`bench compress` compares GleanVID's time with that of one `X @ X.T` of the same tokens. "
        f"At 32 x 14 x 14 tokens of width\n3584 on two CPU cores it took "
        f"{ours['ratio_to_xxt']:.2f} of that time, and {ours['ratio_to_vidcom2']:.1f} times as "
        "long as VidCom2\n(`results/cpu-2-cores/`, written by `bench compress --all --json`)."
    )


def compress_width() -> str:
    """Return a sentence on the time of ``compress`` relative to X @ X^T (X: the tokens)."""
    narrow, wide = (
        next(row for row in read(f"cpu-2-cores/{name}.json")["rows"] if "gleanvid" in row.values())
        for name in ("compress_32x14x14x896", "compress_32x14x14x3584_one_thread")
    )
    return (
        f"For 32 units and 25 %, `compress` takes {narrow['ratio_to_xxt']:.2f} of the time of one "
        f"X @ X.T at width 896\nand {wide['ratio_to_xxt']:.2f} at 3584 (one CPU thread)."
    )


def glimpse() -> str:
    """Return a table of accuracy and evidence kept by retention ratio, with the built-in model."""
    whole = full("glimpse")
    rows = [
        [measure, title, *(_percent(kept("glimpse", name, r)[key]) for r in _RATIOS)]
        for key, measure in _MEASURES.items()
        for name, title in _METHODS.items()
    ]
    heads = ["measure (%)", "method", *(f"{100 * ratio:g} %" for ratio in _RATIOS)]
    return (
        f"{whole['questions']} four-option questions (chance 25 %) about test clips of three "
        f"seeds, 32 frames of 160 px. All tokens: {_percent(whole['accuracy'])} % right.\n\n"
        f"{markdown_table(heads, rows)}"
    )


def filmed() -> str:
    """Return a table of what stays of an image classifier's view of filmed clips at 10 %."""
    columns = ("labels", "frame top 5")
    rows = [
        [title, *(_filmed(name, column) for column in columns)] for name, title in _FILMED.items()
    ]
    heads = ["at 10 %", "labels kept (%)", "top-5 classes of a frame's mean kept (%)"]
    labels, classes = (_filmed_standing(column) for column in columns)
    return (
        f"{markdown_table(heads, rows)}\nIn labels GleanVID is {labels}. In classes it is "
        f"{classes}.\nOther differences are not significant (Holm; 95 % intervals by clip)."
    )


def _filmed_standing(column: str) -> str:
    """Return what GleanVID is ahead of and behind on filmed clips at 10 %, with methods' titles."""
    text = (RESULTS / "filmed" / "table.md").read_text(encoding="utf-8")
    told = text.partition(f"- 10%, {column}: ")[2].partition(".\n")[0]
    return re.sub(
        "`([^`]+)`", lambda name: _LABELS.get(name[1]) or COMPRESSORS[name[1]].title, told
    )


def _filmed(method: str, column: str) -> str:
    """Return a column's mean over the filmed clips at 10 %, in per cent, with its 95 % interval."""
    with (RESULTS / "filmed" / "rows.csv").open(encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file) if (r["method"], r["ratio"]) == (method, "0.1")]
    counted = [row for row in rows if not math.isnan(float(row[column]))]
    found = clip_mean([float(row[column]) for row in counted], [row["clip"] for row in counted])
    return f"{100 * found.value:.0f} ({100 * found.low:.0f} to {100 * found.high:.0f})"


def card_accuracy() -> str:
    """Return a table of the built-in model's accuracy with all tokens, by question type."""
    options, words = (full("glimpse-full", how) for how in ("likelihood", "text"))
    names = [name.removesuffix(" questions") for name in options if name.endswith(" questions")]
    rows = [_card_row(options, words, name, str(options[f"{name} questions"])) for name in names]
    whole = _card_row(options, words, "accuracy", str(options["questions"]))
    bold = ["**all**", whole[1], *(f"**{cell}**" for cell in whole[2:])]
    heads = ["family", "questions", "four options", "free, in words"]
    return markdown_table(heads, [bold, *rows], numbers=False)


def _card_row(
    options: Mapping[str, Any], words: Mapping[str, Any], name: str, count: str
) -> list[str]:
    return [name, count, _interval(options, name), _interval(words, name)]


def _interval(row: Mapping[str, Any], key: str) -> str:
    low, high = (f"{100 * row[f'{key}_{side}']:.0f}" for side in ("low", "high"))
    return f"{_percent(row[key])} % ({low} to {high})"


def question_sets() -> str:
    """Return a table of evaluations: questions, and accuracy with all tokens and at 15 %."""
    rows = []
    for folder in ("glimpse", "glimpse-ablations", "glimpse-all", "glimpse-full"):
        whole = full(folder)
        at_15 = (
            _percent(kept(folder, "gleanvid", 0.15)["accuracy"]) if folder != "glimpse-full" else ""
        )
        rows.append([f"`{folder}/`", f"{whole['questions']:,}", _percent(whole["accuracy"]), at_15])
    return markdown_table(["folder", "questions", "all tokens (%)", "GleanVID at 15 % (%)"], rows)


def ablations() -> str:
    """Return the table of ablated variants in ``results/README.md``."""
    variants: Sequence[tuple[str, str, str]] = (
        ("glimpse-ablations", "GleanVID", "gleanvid(retention_ratio=0.15)"),
        ("glimpse-ablations", "w/o CTS", "ablation(retention_ratio=0.15, selection='random')"),
        ("glimpse-ablations", "V-CAST", "vcast(retention_ratio=0.15)"),
        ("glimpse-first-unit", "GleanVID", "gleanvid(retention_ratio=0.15)"),
        (
            "glimpse-first-unit",
            "first unit's novelty from the clip's mean",
            "ablation(retention_ratio=0.15, first_unit='centred')",
        ),
    )
    rows = []
    for folder, label, setup in variants:
        line = line_of(folder, setup)
        moments = _percent(line["evidence_moments"]) if "evidence_moments" in line else ""
        rows.append([f"`{folder}/`", label, _percent(line["accuracy"]), moments])
    heads = ["folder", "variant at 15 %", "accuracy (%)", "evidence kept (%)"]
    return markdown_table(heads, rows)
