"""Writes result files so that no reader finds half of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a path to write to. At the end its file replaces ``path``; after an error it goes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        yield part
        part.replace(path)
    except BaseException:
        with suppress(OSError):  # of a folder with that name
            part.unlink()
        raise


def write_whole(path: Path, text: str) -> None:
    """Write text so that ``path`` holds either all of it or what it held before."""
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")
