"""Writes result files so that no reader finds half of one, or a number that JSON lacks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


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


def finite(value: Any) -> Any:
    """Put None for NaN and infinity, also inside lists and dicts: JSON has neither."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
