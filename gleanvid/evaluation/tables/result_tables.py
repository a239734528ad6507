"""Markdown tables of results: accuracy, evidence and relevance kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.statistics import Estimate
from gleanvid.evaluation.tables.summary import Result

_MOST_GROUPS = 7  # the main table has columns for at most this many groups
_EVIDENCE = {  # measure of kept evidence -> head of its column
    "kept": "tokens",
    "reachable": "of reachable",
    "things": "things",
    "moments": "moments",
    "represented": "represented",
}


def main_table(results: Sequence[Result]) -> str:
    """Return a Markdown table with the averages, intervals, tokens and seconds of every setup."""
    inline, macros = inline_groups(results), list(results[0].macro)
    heads = ["method", "kept", "frames", "tokens", *inline, "accuracy", "95 %", "95 %, clips"]
    heads += [*macros, "% of full", "95 %", "s / question", "failed", "units with nothing new (%)"]
    rows = []
    for result in results:
        if result.blank:
            failed = "refused" if result.refused else str(result.failed)
            rows.append([*who(result), *[""] * (len(heads) - 5), failed, ""])
            continue
        row = [*who(result), f"{result.tokens_mean:.0f}"]
        row += [group_share(result, name) for name in inline]
        row += [percent(result.accuracy), span(result.accuracy), span(result.by_clip)]
        row += [percent(result.macro[name]) for name in macros]
        row += [percent(result.relative), span(result.relative)]
        row += [f"{result.seconds:.3f}", str(result.failed or "")]
        rows.append([*row, percent(result.saturated) if result.saturated else ""])
    width = None if any(result.saturated for result in results) else -1
    return markdown_table(heads[:width], [row[:width] for row in rows]) + refusals(results)


def refusals(results: Sequence[Result]) -> str:
    """Return a line for every setup that failed on all questions, with its first error."""
    lines = {
        f"{result.setup.key}: {result.first_error.removeprefix('ValueError: ')}\n"
        for result in results
        if result.blank
    }
    return "\n" + "\n".join(sorted(lines)) if lines else ""


def group_table(results: Sequence[Result]) -> str:
    """Return a Markdown table of accuracy by group; "" if the main table has these columns."""
    groups = group_names(results)
    if len(groups) <= _MOST_GROUPS:
        return ""
    heads = ["method", "kept", "frames", *groups, "accuracy"]
    rows = [
        [*who(one), *(group_share(one, name, half_width) for name in groups), percent(one.accuracy)]
        for one in results
        if not one.blank
    ]
    counts = ["questions", "", "", *(str(results[0].groups[name][1]) for name in groups)]
    return markdown_table(heads, [*rows, [*counts, str(results[0].count)]])


def group_names(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(name for result in results for name in result.groups))


def inline_groups(results: Sequence[Result]) -> list[str]:
    """Return the groups of questions that have a column in the main table."""
    groups = group_names(results)
    return groups if len(groups) <= _MOST_GROUPS else []


def evidence_table(results: Sequence[Result]) -> str:
    """Return a Markdown table of the evidence kept, and of its correlation r with right answers.

    Each row has its own r. One r over all rows would mix differences between methods and ratios
    with differences between questions.
    """
    known = [(who(one), one.evidence) for one in results if one.evidence and not one.blank]
    if not known:
        return ""
    heads = ["evidence kept (%)", "kept", "frames"]
    heads += [head for name in _EVIDENCE.values() for head in (name, "95 %, clips")]
    heads += [f"r {name}" for name in _EVIDENCE.values()]
    rows = []
    for place, seen in known:
        row = list(place)
        for name in _EVIDENCE:
            row += [percent(seen.means[name]), span(seen.means[name])]
        rows.append([*row, *(coefficient(seen.correlations[name]) for name in _EVIDENCE)])
    return markdown_table(heads, rows)


def relevance_table(results: Sequence[Result]) -> str:
    """Return a Markdown table of the fraction of the relevance on the kept tokens.

    For comparison, it has the fractions on as many of the most relevant tokens, and on as many
    random tokens. Return "" if relevance was not measured.
    """
    rows = []
    for one in results:
        if (found := one.relevance) and not one.blank:
            kept = [percent(found.kept), span(found.kept)]
            bounds = [percent(found.best), percent(found.random)]
            rows.append([*who(one), *kept, *bounds, coefficient(found.r)])
    heads = ["relevance kept (%)", "kept", "frames", "mean", "95 %, clips", "best tokens"]
    note = (
        "relevance: how much the model's own answer with all tokens rests on each token, by "
        "gradient: a measure of this model's use of its input, not of truth. r: correlation with "
        "being right."
    )
    return f"{markdown_table([*heads, 'random tokens', 'r'], rows)}\n{note}\n" if rows else ""


def who(result: Result) -> list[str]:
    """Return the first three cells of a table row: method, retention ratio, number of frames."""
    setup = result.setup
    return [setup.title, f"{setup.retention_ratio:.0%}", str(setup.num_frames)]


def percent(value: float | Estimate | None) -> str:
    """Format a fraction as a percentage: 86.0; an empty cell for None and NaN."""
    share = value.value if isinstance(value, Estimate) else value
    return "" if share is None or math.isnan(share) else f"{100 * share:.1f}"


def group_share(result: Result, group: str, text: Callable[[Estimate], str] = percent) -> str:
    """Format a group's accuracy, by default as a percentage; "" if the group has no questions."""
    return text(result.groups[group][0]) if group in result.groups else ""


def points(difference: Estimate) -> str:
    """Format a difference of fractions in percentage points: +2.4."""
    return f"{100 * difference.value:+.1f}"


def span(estimate: Estimate, signed: bool = False) -> str:
    """Format an interval in percent: 83.8–89.7; ``signed``, for differences: -0.5 to +3.1."""
    if math.isnan(estimate.low):
        return ""
    low, high = 100 * estimate.low, 100 * estimate.high
    return f"{low:+.1f} to {high:+.1f}" if signed else f"{low:.1f}–{high:.1f}"


def half_width(estimate: Estimate) -> str:
    """Format a percentage with half the width of its interval: 97.8 ± 5.6."""
    return f"{100 * estimate.value:.1f} ± {50 * (estimate.high - estimate.low):.1f}"


def p_value(value: float | None) -> str:
    """Format a p value: 0.012, or < 0.001; "" for None."""
    if value is None:
        return ""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def coefficient(value: float | None) -> str:
    """Format a correlation: +0.31; "" for None and NaN."""
    return "" if value is None or math.isnan(value) else f"{value:+.2f}"
