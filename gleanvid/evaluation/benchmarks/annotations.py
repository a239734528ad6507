"""Reads published annotation files (JSON, JSON lines, Parquet). Errors name file and row."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gleanvid.evaluation.benchmarks.base import BenchmarkError

Row = dict[str, Any]


def read_rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, Row]]:
    """Yield (place, row) for every row of an annotation file.

    ``place`` is a text such as "FILE, row 3" for error messages. Raises :class:`BenchmarkError` for
    a missing, broken or empty file, and for a row that lacks one of ``columns``.
    """
    rows = _rows(path)
    if not rows:
        raise BenchmarkError(f"{path} contains no rows")
    for number, row in enumerate(rows):
        place = f"{path}, row {number}"
        if not isinstance(row, dict):
            raise BenchmarkError(f"{place} is not a JSON object with the columns as keys")
        if lacking := [name for name in columns if row.get(name) is None]:
            has = ", ".join(map(str, row))
            raise BenchmarkError(f"{place} has no {' and no '.join(lacking)}; it has {has}")
        yield place, row


def _rows(path: Path) -> list[Any]:
    try:
        if path.suffix == ".parquet":
            return _parquet(path)
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        found = json.loads(text)
    except (OSError, ValueError) as error:
        raise BenchmarkError(f"{path} cannot be read: {error}") from error
    if not isinstance(found, list):
        raise BenchmarkError(f"{path} must contain a list of rows")
    return found


def _parquet(path: Path) -> list[Row]:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise BenchmarkError(
            f"{path} is a Parquet file, which needs the package pyarrow: pip install pyarrow"
        ) from error
    rows: list[Row] = parquet.read_table(path).to_pylist()
    return rows


def position(answer: Any, options: Sequence[str], place: str) -> int:
    """Return the index of the text ``answer`` in ``options``."""
    if answer not in options:
        raise BenchmarkError(f"{place}: answer={answer!r} is none of the options {list(options)}")
    return list(options).index(answer)


def letter_position(letter: Any, options: Sequence[str], place: str) -> int:
    """Return the index of the option named by a letter: A is 0."""
    number = ord(letter) - ord("A") if isinstance(letter, str) and len(letter) == 1 else -1
    if not 0 <= number < len(options):
        last = chr(ord("A") + len(options) - 1)
        raise BenchmarkError(f"{place}: answer={letter!r} must be one of the letters A to {last}")
    return number


def letter(number: int) -> str:
    """The letter of the option at a position: 0 is A."""
    return chr(ord("A") + number)


def texts(row: Row, name: str, place: str) -> tuple[str, ...]:
    """Return the entries of column ``name``, a list of at least two options, as texts."""
    found = row[name]
    if not isinstance(found, (list, tuple)) or len(found) < 2:
        raise BenchmarkError(f"{place}: {name}={found!r} must list at least two options")
    return tuple(str(text) for text in found)
