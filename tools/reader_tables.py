"""Sentences of the documentation on the built-in model's errors and its possible successor."""

from __future__ import annotations

import json
from collections.abc import Mapping

from gleanvid.evaluation.benchmarks.base import items_of_seeds
from gleanvid.evaluation.benchmarks.glimpse import HARD, Glimpse
from gleanvid.evaluation.markdown import markdown_table
from tools.accept_reader import RESULTS

_METHODS = {"gleanvid": "GleanVID", "vidcom2": "VidCom2"}
_RATIOS = (0.5, 0.25, 0.15)


def lost_with_all_evidence() -> str:
    """Return a table of accuracy with all tokens and with the tokens that a method keeps.

    It covers questions of the seven hard types for which the method keeps a token of every moment
    that decides the answer.
    """
    rows = {}
    lines = (RESULTS / "glimpse" / "journal.jsonl").read_text("utf-8").splitlines()
    settings = json.loads(lines[0])["settings"]
    for line in lines[1:]:
        row = json.loads(line)
        rows[row["setup"], row["item"]] = row
    count = len({item for _, item in rows})
    asked = items_of_seeds(Glimpse(clip_frames=32), count, settings["seed"])
    hard = [item.id for item in asked if item.groups[0] in HARD]
    cells = []
    for method, title in _METHODS.items():
        for ratio in _RATIOS:
            own = f"{method}(retention_ratio={ratio})@32"
            kept = [item for item in hard if len({*rows[own, item]["moments"]}) == 1]
            shares = (
                sum(rows[setup, item]["right"][0] for item in kept) / len(kept)
                for setup in ("full(retention_ratio=1.0)@32", own)
            )
            asked_of = [f"{title}, {100 * ratio:.0f} %", str(len(kept))]
            cells.append([*asked_of, *(f"{100 * share:.1f}" for share in shares)])
    heads = [
        "kept",
        "hard questions with a token of every moment",
        "all tokens (%)",
        "kept tokens (%)",
    ]
    return markdown_table(heads, cells)


def accepted() -> str:
    """Return accuracies of the possible successor, and which acceptance rules it meets."""
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
