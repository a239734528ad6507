"""Limits on uploads, and deletion of visitors' files by age and when the server ends."""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from cachetools import LRUCache
from gradio.utils import get_upload_folder

from ..places import ASSETS, LINK
from ..viewer.folder import bytes_in
from .allowed import RefusedError

MIB = 2**20
SCAN_S = 5.0  # seconds between two scans of the upload folder
VISITORS = 10_000  # maximum number of visitors whose uploads are counted
PREFIX = "gleanvid-"
# All but SIGTERM come from terminals, SIGINT by Ctrl+C; Windows has no SIGHUP and no SIGQUIT.
ENDING = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT")


class Uploads:
    """Limits on the size of uploaded files.

    Args:
        each_bytes: maximum bytes of one upload; Gradio limits only each of its files.
        all_bytes: maximum bytes of all files together; 0 for no limit.
        visitor_bytes: maximum bytes that one visitor may upload in ``keep_s``; 0 for no limit.
        keep_s: age in seconds at which files are deleted.
        clock: returns seconds.
    """

    def __init__(
        self,
        each_bytes: int,
        all_bytes: int = 0,
        visitor_bytes: int = 0,
        keep_s: float = 3600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.each_bytes, self.all_bytes = each_bytes, all_bytes
        self.visitor_bytes, self.keep_s, self.clock = visitor_bytes, keep_s, clock
        self._sent: LRUCache[tuple[str, int], int] = LRUCache(VISITORS)
        self._bytes, self._scanned = 0, -SCAN_S
        self._lock = threading.Lock()

    def check(self, length: str, visitor: str = "") -> None:
        """Count an upload of ``length`` bytes. Raises ``RefusedError`` if a limit is exceeded.

        A request that does not state its length is refused, too.
        """
        if not length.isdecimal():
            raise RefusedError(411, "Send the upload with a Content-Length header.")
        size = int(length)
        if size > self.each_bytes + MIB:  # a form is a little larger than its file
            raise RefusedError(413, f"The file is larger than {self.each_bytes // MIB} MB.")
        with self._lock:
            now = self.clock()
            if now - self._scanned >= SCAN_S:
                self._bytes, self._scanned = bytes_in(get_upload_folder()), now
            if self.all_bytes and self._bytes + size > self.all_bytes:
                raise RefusedError(
                    507, "The upload folder of this server is full. Try again later."
                )
            period = visitor, int(now // self.keep_s)
            sent = self._sent.get(period, 0) + max(size, MIB)  # small files take disk space, too
            if self.visitor_bytes and sent > self.visitor_bytes:
                raise RefusedError(
                    429, "Your address has reached its upload limit. Try again later."
                )
            self._sent[period] = sent
            self._bytes += size


def uploaded(video: Any) -> str:
    """Return the path of an uploaded file. Raises ``ValueError`` for any other path."""
    path = video.get("path") if isinstance(video, dict) else getattr(video, "path", None)
    folder = Path(get_upload_folder()).resolve()
    if not isinstance(path, str) or not Path(path).resolve().is_relative_to(folder):
        raise ValueError("video must be an uploaded file")
    return path


def delete_old(folder: Path, keep_s: float) -> int:
    """Delete files of visitors, and empty folders, that were last written ``keep_s`` ago.

    Returns the number of deleted files and folders. After any, glibc gives freed memory back to the
    system, which it would keep.
    """
    deleted = 0
    for root, folders, files in os.walk(folder, topdown=False):
        for name in {*files, *folders} - {LINK}:
            path = Path(root, name)
            with suppress(OSError):  # deleted meanwhile, or a folder that is not empty
                if time.time() - path.lstat().st_mtime > keep_s:
                    path.rmdir() if path.is_dir() else path.unlink()
                    deleted += 1
    if deleted:
        give_back()
    return deleted


def give_back() -> None:
    """Give freed memory back to the system; does nothing without glibc."""
    with suppress(AttributeError, OSError, TypeError):  # TypeError: on Windows
        ctypes.CDLL(None).malloc_trim(0)


@contextmanager
def own_folder() -> Iterator[str]:
    """Make a new folder for Gradio's files of visitors, deleted when the server ends.

    The folder lies in ``GRADIO_TEMP_DIR`` if the operator has set it. That folder may be shared, so
    the server deletes old files only in its own folder.
    """
    given = os.environ.get("GRADIO_TEMP_DIR")
    parent = given or tempfile.gettempdir()
    Path(parent).mkdir(parents=True, exist_ok=True)
    temporary = tempfile.TemporaryDirectory(prefix=PREFIX, dir=parent, ignore_cleanup_errors=True)
    with temporary as folder:
        # Most Windows users may not make symbolic links. Then visitors see real file paths.
        with suppress(OSError):
            Path(folder, LINK).symlink_to(ASSETS, target_is_directory=True)
        os.environ["GRADIO_TEMP_DIR"] = folder
        try:
            yield folder
        finally:
            os.environ["GRADIO_TEMP_DIR"] = given or ""  # Gradio treats "" as unset


@contextmanager
def exit_on_signals() -> Iterator[None]:
    """Turn the signals ``ENDING`` into an exit that runs the exit handlers.

    A signal that is ignored, such as SIGHUP under ``nohup``, stays ignored. The process ends
    without Python's finalization, which would abort it if another thread is running torch code.
    """
    ended: list[int] = []

    def leave(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)  # a second signal would interrupt the clean-up
        ended.append(128 + number)
        with suppress(OSError):  # the terminal may be gone
            name = signal.Signals(number).name
            print(f"Stopped by {name}; the files of visitors are deleted.", flush=True)
        raise SystemExit(ended[0])

    if threading.current_thread() is threading.main_thread():
        for number in (getattr(signal, name, None) for name in ENDING):
            if number and signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, leave)
    try:
        yield
    finally:
        if ended:
            atexit._run_exitfuncs()
            os._exit(ended[0])
