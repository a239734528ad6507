"""Write result files atomically, format tables as CSV, and replace NaN for JSON."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from gleanvid.errors import plain

FORMULA = ("=", "+", "-", "@", "\t", "\n")  # a spreadsheet may run a cell that starts with these


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to. At the end of the block, it replaces ``path``.

    If the block raises, the temporary file is deleted and ``path`` is unchanged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        part.unlink(missing_ok=True)  # if it were a symlink, its target would be overwritten
        yield part
        part.replace(path)
    except BaseException:
        with suppress(OSError):  # the path may be a folder, which unlink refuses
            part.unlink()
        raise


def write_whole(path: Path, text: str) -> None:
    """Write text atomically: if writing fails, the file keeps its previous content."""
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")


def finite(value: Any) -> Any:
    """Replace NaN and infinity by None, also inside lists and dicts: JSON has neither."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def csv_text(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a table as CSV text with columns ``names``; None is an empty cell.

    Text that a spreadsheet would run as a formula gets an apostrophe before it: names of files,
    groups and methods may come from strangers. Control characters are left out.

    >>> print(csv_text(["clip", "gain"], [{"clip": "=1+1.mp4", "gain": -2}]), end="")
    clip,gain
    '=1+1.mp4,-2
    """
    lines: list[str] = []
    # With "\r\n" as the line ending, Python 3.11 quotes cells that contain "\r" or "\n".
    table = csv.writer(SimpleNamespace(write=lines.append))
    table.writerow(map(_cell, names))
    table.writerows([_cell(row.get(name)) for name in names] for row in rows)
    return "".join(line.removesuffix("\r\n") + "\n" for line in lines)


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    value = plain(value.replace("\r", "\n"))  # "\r" would end the row, as csv does not quote it
    return f"'{value}" if value.startswith(FORMULA) else value
