"""The paper's tables as Markdown and as LaTeX, with measured numbers if there are any."""

from __future__ import annotations

from gleanvid.evaluation.latex import latex_table
from gleanvid.evaluation.markdown import markdown_table
from gleanvid.evaluation.paper.numbers import BENCHMARKS, Measured, Row, Table, ours

_HEADS = {
    "mvbench": "MVBench",
    "longvideobench": "LongVideoBench",
    "mlvu": "MLVU",
    "videomme": "Video-MME",
    "percent": "% of full",
    "drop": "points",
    "prefill_s": "prefill, s",
    "generate_s": "generation, s",
    "total_s": "total, s",
    "peak_memory_mb": "memory, MB",
    "items_per_s": "items/s",
}


def latex(table: Table, measured: Measured | None = None) -> str:
    """Return a table in LaTeX with measured numbers, or the paper's if none are given.

    In a column, the best two numbers with the same ratio and number of frames are marked.
    """
    values = ours(table, measured) if measured else [row.values for row in table.rows]
    rows = [
        [*_who(row), *(_cell(column, own.get(column), None) for column in table.columns)]
        for row, own in zip(table.rows, values, strict=True)
    ]
    heads = ["method", "kept", "frames", *map(_head, table.columns)]
    better = [column for column in table.columns if column.partition("/")[0] in BENCHMARKS]
    ranked = [_head(column) for column in (*better, "average", "percent")]
    about = f"% {table.title} ({'ours' if measured else 'paper'}; {table.label})\n"
    return about + latex_table(heads, rows, ranked, setting=(1, 2))


def _who(row: Row) -> list[str]:
    """Return the first three cells of a table row: label, retention ratio, number of frames."""
    kept, frames = row.setup.partition("retention_ratio=")[2], row.setup.rpartition("@")[2]
    ratio = float(kept.partition(")")[0].partition(",")[0])
    return [row.label, f"{ratio:.0%}", frames]


def text(table: Table, measured: Measured | None = None) -> str:
    """Return a Markdown table of the paper's numbers, and any measured ones with the difference."""
    values = ours(table, measured) if measured else [{}] * len(table.rows)
    heads = ["method", "kept", "frames", *(_head(column) for column in table.columns)]
    about = f"{table.title} (paper{' / ours' if measured else ''}; {table.label})"
    rows = []
    for row, own in zip(table.rows, values, strict=True):
        cells = [_cell(column, row.values[column], own.get(column)) for column in table.columns]
        rows.append([*_who(row), *cells])
    read = f"\n{table.note}\n" if table.note else ""
    return f"{about}\n\n{markdown_table(heads, rows)}{read}{_notes(measured, table)}"


def _notes(measured: Measured | None, table: Table) -> str:
    if measured is None:
        return ""
    asked = ", ".join(f"{count} of {name}" for name, count in measured.questions.items())
    timed = ", and are not in the sums of seconds" if "prefill_s" in table.columns else ""
    failed = f"; {measured.failed} failed and count as wrong{timed}" if measured.failed else ""
    questions = f", questions: {asked}{failed}" if asked else ""
    return f"\nOurs: {measured.model}{questions}.\n"


def _head(column: str) -> str:
    if column.endswith(" change"):
        return "change"
    return _HEADS.get(column, column.rpartition("/")[2])


def _cell(column: str, paper: float | None, own: float | None) -> str:
    digits = 2 if column.startswith("items_per_s") else 1
    published = "–" if paper is None else f"{paper:.{digits}f}"
    if own is None:
        return published
    return f"{published} / {own:.{digits}f}" + (
        f" ({own - paper:+.{digits}f})" if paper is not None else ""
    )
