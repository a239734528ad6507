"""Deletes the folder of visitors' files when a server ends, and those of servers that were killed.

A server locks its folder. The system releases the lock however the server ends, so an unlocked
folder is a stale one.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO

try:
    import fcntl
except ImportError:  # Windows: folders of killed servers stay
    fcntl = None  # type: ignore[assignment]

PREFIX = "gleanvid-"
LOCK = ".lock"
YOUNG_S = 60.0  # a folder that another server is just making has no lock yet
TERMINATED = 128 + signal.SIGTERM


@contextmanager
def own_folder() -> Iterator[str]:
    """A folder for the files of visitors, deleted at the end; stale ones are deleted now."""
    forget_stale(Path(tempfile.gettempdir()))
    # Gradio empties its folder when a server stops: a shared one would break the others' pages.
    temporary = tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)
    with temporary as folder, open(Path(folder) / LOCK, "w") as lock:
        _locked(lock)
        yield folder


def forget_stale(parent: Path) -> None:
    """Delete the folders in ``parent`` that servers of this user left and nobody holds."""
    if fcntl is None:
        return
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            status = folder.lstat()
            old = time.time() - status.st_mtime > YOUNG_S
            if folder.is_symlink() or not folder.is_dir() or status.st_uid != os.getuid():
                continue
            if _abandoned(folder / LOCK) or (old and not (folder / LOCK).exists()):
                shutil.rmtree(folder, ignore_errors=True)


def _abandoned(lock: Path) -> bool:
    if not lock.is_file():
        return False
    with lock.open() as file:
        return _locked(file)


def _locked(file: IO[str]) -> bool:
    """Take the lock on an open file; False where another process holds it."""
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True


@contextmanager
def orderly() -> Iterator[None]:
    """While this lasts, SIGTERM ends the program as its last line would, with all cleaned up."""

    def leave(number: int, frame: FrameType | None) -> None:
        print("Stopped by SIGTERM; the files of visitors are deleted.", flush=True)
        raise SystemExit(TERMINATED)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
