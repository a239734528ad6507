"""How much the files of visitors take: uploads are refused where they would take too much."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from gradio.utils import get_upload_folder

from components.files.folder import bytes_in

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
