"""Tables of the documentation: the built-in model's errors, and a candidate to replace it."""

from __future__ import annotations

from gleanvid.evaluation.benchmarks.glimpse import HARD
from gleanvid.evaluation.markdown import markdown_table
from tools.result_tables import points, read


def accepted() -> str:
    """Return the candidate model's accuracies beside the built-in one's, and rules it meets."""
    report = read("reader/acceptance.json")
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
        f"tokens, {points(report['hard_minus_shipped'])}; a random half minus all tokens, "
        f"{points(report['hard_half_minus_all_tokens'])}."
    )
    return "\n\n".join((markdown_table(heads, rows), told, "\n".join(rules)))
