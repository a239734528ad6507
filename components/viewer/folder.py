"""The size of a folder, and deleting its oldest files above a limit."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path


def bytes_in(folder: str | Path) -> int:
    total = 0
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            total += _bytes(entry)
    return total


def _bytes(entry: os.DirEntry[str]) -> int:
    try:
        return bytes_in(entry.path) if entry.is_dir(follow_symlinks=False) else entry.stat().st_size
    except OSError:  # another request has deleted the file in the meantime
        return 0


def trim(folder: Path, limit_bytes: int, prefix: str = "") -> None:
    """Delete the oldest entries of ``folder`` until the rest fits ``limit_bytes``.

    ``prefix``: only entries whose names begin with it are counted and deleted.
    """
    entries = []
    for entry in os.scandir(folder):
        if not entry.name.startswith(prefix):
            continue
        with suppress(OSError):
            entries.append((entry.stat().st_ctime, _bytes(entry), entry.path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= limit_bytes:
            return
        total -= size
        with suppress(OSError):
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
