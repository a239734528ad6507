"""Tables of the documentation: the built-in model's errors, and a candidate to replace it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from gleanvid.evaluation.benchmarks.glimpse import HARD
from gleanvid.evaluation.markdown import markdown_table
from tools.accept_reader import RESULTS


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
