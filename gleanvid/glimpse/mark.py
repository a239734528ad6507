"""How a clip of Glimpse is recognised by its file."""

from __future__ import annotations

from pathlib import Path

MARK = "A clip of GleanVID's Glimpse"
_HEADER = 2**16  # bytes at the start of a file that have its header


def is_of_glimpse(path: Path) -> bool:
    """Return whether a file has ``MARK`` in its header, or a file with its scene beside it."""
    return path.with_suffix(".json").is_file() or is_marked(path)


def is_marked(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return MARK.encode() in file.read(_HEADER)
