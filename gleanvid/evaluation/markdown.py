"""Tables in Markdown, for reports, the README and the benchmarks alike."""

from __future__ import annotations

from collections.abc import Sequence


def markdown_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: bool = True
) -> str:
    """Return a Markdown table, with a newline at the end.

    With ``numbers`` every column but the first is aligned to the right. A ``|`` in a cell is
    escaped.
    """
    rule = "|---|" + ("---:|" if numbers else "---|") * (len(heads) - 1)
    return "\n".join([_line(heads), rule, *map(_line, rows)]) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
