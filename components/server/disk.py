"""How much the files of visitors take: uploads are refused where they would take too much."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from gradio.utils import get_upload_folder

MIB = 2**20
LOOK_S = 5.0  # between two looks at the folder
FORM_BYTES = MIB  # of an upload beside its file


class Uploads:
    """What an upload may bring: ``each_bytes`` by itself, ``all_bytes`` with all that is there.

    Gradio's own limit is that of a file, of which an upload may bring a thousand; and it forgets
    uploads that break off, so each look at the folder deletes those older than ``keep_s``.
    ``all_bytes`` 0: no limit.
    """

    def __init__(
        self,
        each_bytes: int,
        all_bytes: int,
        keep_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.each_bytes, self.all_bytes, self.keep_s = each_bytes, all_bytes, keep_s
        self.clock = clock
        self._held, self._looked = 0, -LOOK_S
        self._lock = threading.Lock()

    def refusal(self, length: str) -> tuple[int, str] | None:
        """Status and sentence for an upload of this Content-Length, where it is refused."""
        if not length.isdecimal():
            return 411, "An upload must say its length."
        size = int(length)
        if size > self.each_bytes + FORM_BYTES:
            return 413, f"The file is larger than {self.each_bytes // MIB} MB."
        with self._lock:
            if self.clock() - self._looked >= LOOK_S:
                folder = Path(get_upload_folder())
                forget(folder, time.time() - self.keep_s)
                self._held, self._looked = bytes_in(folder), self.clock()
            if self.all_bytes and self._held + size > self.all_bytes:
                return 507, "This server holds all the files it can. Try again later."
            self._held += size
        return None


def forget(folder: Path, since: float) -> None:
    """Delete the files directly in ``folder`` that were last changed before ``since``."""
    for path in folder.glob("*"):
        with suppress(OSError):  # gone in between
            if path.is_file() and path.lstat().st_ctime < since:
                path.unlink()


def bytes_in(folder: str | Path) -> int:
    """Bytes of all files below a folder."""
    total = 0
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            total += _bytes(entry)
    return total


def _bytes(entry: os.DirEntry[str]) -> int:
    try:
        return bytes_in(entry.path) if entry.is_dir() else entry.stat().st_size
    except OSError:  # gone in between
        return 0


def trim(folder: Path, limit_bytes: int) -> None:
    """Delete files and folders directly below ``folder``, the oldest first, until the rest fits."""
    found = []
    for entry in os.scandir(folder):
        with suppress(OSError):
            found.append((entry.stat().st_ctime, _bytes(entry), entry.path))
    held = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if held <= limit_bytes:
            return
        held -= size
        with suppress(OSError):
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
