"""Tables of the documentation: the built-in model's errors, and a candidate to replace it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from gleanvid.evaluation.benchmarks.glimpse import HARD
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.statistics import paired_difference
from tools.accept_reader import RESULTS

_HARD = RESULTS / "glimpse-hard"
_METHODS = {"gleanvid": "GleanVID", "vidcom2": "VidCom2", "vcast": "V-CAST", "uniform": "Uniform"}
_RATIOS = (0.25, 0.15, 0.1, 0.05)


def lost_with_all_evidence() -> str:
    """Return a table of accuracy with all tokens and with the tokens that a method keeps.

    It covers the hard questions for which the method keeps a token of every moment that decides
    the answer.
    """
    rows = _rows(_HARD / "journal.jsonl.gz")
    cells = []
    for method, title in _METHODS.items():
        for ratio in _RATIOS:
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
                    _points(vars(lost)),
                ]
            )
    heads = ["method", "kept", "questions", "all tokens (%)", "kept tokens (%)"]
    return markdown_table([*heads, "difference, points (95 % by clip)"], cells)


def _rows(journal: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the rows of a compressed evaluation journal by setup and question."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    with gzip.open(journal, "rt", encoding="utf-8") as lines:
        next(lines)  # the settings
        for row in map(json.loads, lines):
            if "error" not in row:
                found.setdefault(row["setup"], {})[row["item"]] = row
    return found


def accepted() -> str:
    """Return the candidate model's accuracies beside the built-in one's, and rules it meets."""
    report = json.loads((RESULTS / "reader" / "acceptance.json").read_text("utf-8"))
    names = list(report["accuracy"])
    groups = {"**all**": report["accuracy"] | {"questions": report["questions"]}}
    groups |= {"**hard families**": report["hard"] | {"questions": report["hard_questions"]}}
    groups |= {family: report["families"][family] for family in HARD}
    rows = [
        [label, f"{own['questions']:,}", *(f"{100 * own[name]:.1f}" for name in names)]
        for label, own in groups.items()
    ]
    heads = ["families", "questions", *(f"{name} (%)" for name in names)]
    rules = [f"- {rule}: {'kept' if kept else 'broken'}" for rule, kept in report["rules"].items()]
    told = (
        "On the hard families, in points (95 % by clip): the reader minus the shipped model, all "
        f"tokens, {_points(report['hard_minus_shipped'])}; a random half minus all tokens, "
        f"{_points(report['hard_half_minus_all_tokens'])}."
    )
    return "\n\n".join((markdown_table(heads, rows), told, "\n".join(rules)))


def _points(gap: Mapping[str, float]) -> str:
    value, low, high = (100 * gap[name] for name in ("value", "low", "high"))
    return f"{value:+.1f} ({low:.1f} to {high:.1f})"
