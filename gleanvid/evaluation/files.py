"""Writes result files so that no reader finds half of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a path to write to; its file replaces ``path`` at the end, or is gone after an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        yield part
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_whole(path: Path, text: str) -> None:
    """Write text to ``path`` by way of :func:`whole_file`."""
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")
