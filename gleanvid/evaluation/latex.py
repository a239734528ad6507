"""Tables in LaTeX (package booktabs), for papers."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

_ESCAPES = {
    **{sign: "\\" + sign for sign in "&%$#_{}"},
    "[": "{[}",  # at the start of a row, LaTeX takes [ for an option of the \\ before it
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{
        "²": r"\textsuperscript{2}",
        "–": "--",
        "±": r"$\pm$",
        "†": r"\textdagger{}",
        "×": r"$\times$",
        "−": "$-$",
    },
}
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def latex_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    ranked: Collection[str] = (),
    setting: Sequence[int] = (),
) -> str:
    """Return a ``tabular`` of these cells, with a newline at the end.

    Args:
        heads: Names of the columns.
        rows: Cells of every row.
        ranked: Names of columns in which more is better. Among rows that are compared, the highest
            value is bold and the second underlined. Ties share a mark. A row alone gets none.
        setting: Indices of columns, such as that of the retention ratio. Only rows with the same
            values in them are compared. They are put together, between horizontal rules.
    """
    groups: dict[tuple[str, ...], list[Sequence[str]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[place] for place in setting), []).append(row)
    lines: list[str] = []
    for rivals in groups.values():
        lines += [r"\midrule"] if lines else []
        for row in rivals:
            cells = [
                _marked(cell, [one[place] for one in rivals]) if head in ranked else escaped(cell)
                for place, (head, cell) in enumerate(zip(heads, row, strict=True))
            ]
            lines.append(_line(cells))
    columns = "l" + "r" * (len(heads) - 1)
    opening = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _line(map(escaped, heads))]
    return "\n".join([*opening, r"\midrule", *lines, r"\bottomrule", r"\end{tabular}", ""])


def escaped(text: str) -> str:
    """Escape text for LaTeX; the hyphen of a negative number becomes a minus sign."""
    plain = "".join(_ESCAPES.get(sign, sign) for sign in text)
    return re.sub(r"^-(?=\d)", "$-$", plain)


def _line(cells: Collection[str] | map[str]) -> str:
    return " & ".join(cells) + r" \\"


def _marked(cell: str, rivals: Sequence[str]) -> str:
    values = {value for value in map(_value, rivals) if value is not None}
    best = sorted(values, reverse=True)[:2] if len(rivals) > 1 else []
    text, value = escaped(cell), _value(cell)
    if value is None or value not in best:
        return text
    return rf"\{'textbf' if value == best[0] else 'underline'}{{{text}}}"


def _value(cell: str) -> float | None:
    found = _NUMBER.match(cell)
    return float(found[0]) if found else None
