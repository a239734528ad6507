"""The comment in a clip's file by which the app recognises a clip of Glimpse."""

from __future__ import annotations

from pathlib import Path

MARK = "A clip of GleanVID's Glimpse"
_HEADER = 2**16  # bytes at the start of a file that have its header


def is_marked(path: Path) -> bool:
    """Return whether the header of a file has ``MARK``."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return MARK.encode() in file.read(_HEADER)
