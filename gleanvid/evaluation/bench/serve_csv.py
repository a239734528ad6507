"""Rows of measurements of servers in a CSV, to which runs against other servers add theirs."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

Row = TypeVar("Row")  # a dataclass of text, int and float


def merged(
    kind: type[Row], rows: Sequence[Row], path: Path, key: Callable[[Row], Any]
) -> list[Row]:
    """All that the file holds now, in order of ``key``: what was there, ``rows`` in their place."""
    known = {key(row): row for row in [*read_rows(kind, path), *rows]}
    every = [known[name] for name in sorted(known)]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _names(kind), lineterminator="\n")
        writer.writeheader()
        writer.writerows(_rounded(asdict(row)) for row in every)  # type: ignore[call-overload]
    return every


def read_rows(kind: type[Row], path: Path) -> list[Row]:
    """What :func:`merged` wrote; nothing where there is no such file.

    Raises ``ValueError`` for a file of other columns.
    """
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != _names(kind):
            raise ValueError(f"{path} has other columns than this version writes: move it away")
        types = {"str": str, "int": int, "float": float}
        kinds = {part.name: types[str(part.type)] for part in fields(kind)}  # type: ignore[arg-type]
        return [kind(**{name: kinds[name](text) for name, text in row.items()}) for row in reader]


def _names(kind: type) -> list[str]:
    return [part.name for part in fields(kind)]


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {name: round(v, 6) if isinstance(v, float) else v for name, v in row.items()}
