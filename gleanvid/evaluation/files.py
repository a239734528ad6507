"""Write result files atomically, and replace numbers that JSON lacks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path; at the end it replaces ``path``, after an error it is deleted."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        yield part
        part.replace(path)
    except BaseException:
        with suppress(OSError):  # a folder has that name
            part.unlink()
        raise


def write_whole(path: Path, text: str) -> None:
    """Write text atomically: after a failure, ``path`` has its previous content."""
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")


def finite(value: Any) -> Any:
    """Replace NaN and infinity by None, also inside lists and dicts: JSON has neither."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
