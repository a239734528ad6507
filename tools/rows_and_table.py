"""Shared code of tools that save measurements as CSV and write a table from them."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gleanvid.evaluation.files import write_whole
from gleanvid.evaluation.tables.comparisons import sentence, side
from gleanvid.evaluation.tables.statistics import Estimate, holm, sign_flip

Row = Mapping[str, Any]


def run(
    about: str,
    file: str,
    count: tuple[str, int],
    measure: Callable[[int], Iterable[Row]],
    document: Callable[[Sequence[Row]], str],
) -> None:
    """Write measurements to a CSV file, then write ``table.md`` from that file.

    With ``--read`` nothing is measured, and the CSV file of an earlier run is used.

    Args:
        about: Text of ``--help``.
        file: Name of the CSV file in the folder ``--out``.
        count: Option for the number of clips or seeds, and its default. The CSV file has this
            number as a column, so that the table says what was measured.
        measure: Returns the rows for a number of clips or seeds.
        document: Returns the Markdown of the rows.
    """
    name, default = count
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument(
        "--read", action="store_true", help=f"measure nothing, write table.md from {file} again"
    )
    options = parser.parse_args()
    path, number = options.out / file, getattr(options, name)
    if number < 1:
        parser.error(f"--{name} {number}: must be at least 1")
    if not options.read:
        write_rows(path, [{name: number, **row} for row in measure(number)])
    rows = read_rows(path) if path.is_file() else []
    if not rows or name not in rows[0]:
        sys.exit(f"{path}: no rows with a column {name}; run this without --read")
    write_whole(options.out / "table.md", document(rows))


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Write rows with equal keys as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path, text.getvalue())


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a CSV file; values that look like numbers become floats."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(file)]


def _value(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def standings(gaps: Mapping[tuple[Any, str], Sequence[float]]) -> dict[Any, str]:
    """Return one sentence (no full stop) per group that compares GleanVID with other methods.

    ``gaps``: (group, other method) -> differences by clip or world, positive where GleanVID is
    better. A group is a retention ratio, for example. One Holm correction covers all groups.
    """
    ps = holm([sign_flip(own, range(len(own))) for own in gaps.values()])
    sides: dict[Any, dict[str, list[str]]] = {}
    for ((group, name), own), p in zip(gaps.items(), ps, strict=True):
        sides.setdefault(group, {}).setdefault(side(sum(own), p), []).append(name)
    return {group: sentence(own) for group, own in sides.items()}


def cell(estimate: Estimate) -> str:
    """Format a value with its interval: 0.98 (0.97 to 0.98)."""
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"
