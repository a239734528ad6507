"""The tables of accuracy: one row a setup, over all questions and by group."""

from __future__ import annotations

from collections.abc import Sequence

from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.tables.formatting import half_width, percent, span, who
from gleanvid.evaluation.tables.summary import Result

_INLINE = 7  # groups that find room beside the average; more get a table of their own
_NOTHING_NEW = "units with nothing new (%)"  # chosen by local score alone; a column where any were


def main_table(results: Sequence[Result]) -> str:
    """Markdown: every setup with its averages, intervals, tokens and time."""
    inline = inline_groups(results)
    macros = list(results[0].macro)
    heads = ["method", "kept", "frames", "tokens", *inline, "accuracy", "95 %", "95 %, clips"]
    heads += [*macros, "% of full", "95 %", "s / question", "failed"]
    heads += [_NOTHING_NEW]
    rows = []
    for result in results:
        if result.blank:
            rows.append([*who(result), *[""] * (len(heads) - 5), str(result.failed), ""])
            continue
        row = [*who(result), f"{result.tokens_mean:.0f}"]
        row += [group_share(result, name) for name in inline]
        row += [percent(result.accuracy), span(result.accuracy), span(result.by_clip)]
        row += [percent(result.macro[name]) for name in macros]
        row += [percent(result.relative), span(result.relative)]
        row += [f"{result.seconds:.3f}", str(result.failed or "")]
        rows.append([*row, percent(result.saturated) if result.saturated else ""])
    if not any(result.saturated for result in results):
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    return markdown_table(heads, rows) + refusals(results)


def refusals(results: Sequence[Result]) -> str:
    """A line for every setup that failed throughout, with the reason."""
    lines = {
        f"{result.setup.key}: {result.first_error.removeprefix('ValueError: ')}\n"
        for result in results
        if result.blank
    }
    return "\n" + "\n".join(sorted(lines)) if lines else ""


def group_table(results: Sequence[Result]) -> str:
    """Markdown: accuracy of every setup in every group, where the main table has no room."""
    groups = group_names(results)
    if len(groups) <= _INLINE:
        return ""
    heads = ["method", "kept", "frames", *groups, "accuracy"]
    rows = [
        [*who(result), *(_group_cell(result, name) for name in groups), percent(result.accuracy)]
        for result in results
        if not result.blank
    ]
    counts = ["questions", "", "", *(str(results[0].groups[name][1]) for name in groups)]
    return markdown_table(heads, [*rows, [*counts, str(results[0].count)]])


def group_names(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(name for result in results for name in result.groups))


def inline_groups(results: Sequence[Result]) -> list[str]:
    """The groups that have columns beside the average."""
    groups = group_names(results)
    return groups if len(groups) <= _INLINE else []


def group_share(result: Result, group: str) -> str:
    return percent(result.groups[group][0]) if group in result.groups else ""


def _group_cell(result: Result, group: str) -> str:
    return half_width(result.groups[group][0]) if group in result.groups else ""
