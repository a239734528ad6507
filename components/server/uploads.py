"""Limits on uploads: the size of each and of all together, and what broken ones leave behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gradio.utils import get_upload_folder

from ..files.folder import bytes_in
from ..session.work.rates import RateLimit
from .leaving import LOCK

MIB = 2**20
SCAN_S = 5.0  # between two scans of the folder
BROKEN_S = 30.0  # after which a file of no running upload has broken off
FORM_BYTES = MIB  # of an upload beside its file
LEAST_BYTES = MIB  # that any upload counts for its visitor: small files take room, too


class Uploads:
    """What an upload may bring: ``each_bytes`` by itself, ``all_bytes`` with all that is there.

    Gradio's own limit is that of a file, of which an upload may bring a thousand; and it forgets
    uploads that break off, which :meth:`sweep` deletes. ``all_bytes`` 0: no limit. ``shares``: the
    bytes that one visitor may bring, within the time for which files are kept.
    """

    def __init__(
        self,
        each_bytes: int,
        all_bytes: int,
        shares: RateLimit | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.each_bytes, self.all_bytes = each_bytes, all_bytes
        self.shares, self.clock = shares, clock
        self._bytes, self._scanned = 0, -SCAN_S
        self._lock = threading.Lock()
        self._under_way: dict[object, float] = {}  # since when

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """While an upload comes in, none of its files has broken off."""
        key = object()
        self._under_way[key] = time.time() - 1.0  # clocks of file systems are coarse
        try:
            yield
        finally:
            del self._under_way[key]

    def sweep(self) -> None:
        """Delete the files of uploads that broke off."""
        since = min([time.time() - BROKEN_S, *self._under_way.values()])
        forget(Path(get_upload_folder()), since)

    def refusal(self, length: str, visitor: str = "") -> tuple[int, str] | None:
        """Status and sentence for an upload of this Content-Length, where it is refused."""
        if not length.isdecimal():
            return 411, "An upload must say its length."
        size = int(length)
        if size > self.each_bytes + FORM_BYTES:
            return 413, f"The file is larger than {self.each_bytes // MIB} MB."
        with self._lock:
            if self.clock() - self._scanned >= SCAN_S:
                self._bytes, self._scanned = bytes_in(get_upload_folder()), self.clock()
            if self.all_bytes and self._bytes + size > self.all_bytes:
                return 507, "This server holds all the files it can. Try again later."
            if self.shares and not self.shares.allows(visitor, max(size, LEAST_BYTES)):
                return 429, "Your address has brought all that it may. Try again later."
            self._bytes += size
        return None


def forget(folder: Path, since: float) -> None:
    """Delete the files directly in ``folder`` that were last changed before ``since``.

    The lock of the server stays: without it another server would take the folder for a stale one.
    """
    for path in folder.glob("*"):
        with suppress(OSError):  # gone in between
            if path.name != LOCK and path.is_file() and path.lstat().st_ctime < since:
                path.unlink()
