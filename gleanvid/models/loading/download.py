"""Downloads a checkpoint into the cache of huggingface_hub, byte by byte.

Its own ``snapshot_download`` tells progress in steps of 10 MiB, begins broken files anew in the
next call and cannot be ended. Files lie where it puts them, so every program that uses that cache
finds them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from huggingface_hub import constants, hf_hub_url
from huggingface_hub.errors import HfHubHTTPError, HTTPError

from gleanvid.errors import ModelError, StoppedError
from gleanvid.models.loading.hub import explaining
from gleanvid.models.loading.listing import Download, Part
from gleanvid.models.loading.wire import asked

_TRIES = 5  # that bring next to nothing
_PAUSE_S = 0.5  # times the number of tries, before the next
_LEAST, _LEAST_S = 2**20, 30.0  # bytes in so many seconds: below that a connection is broken
_ODD = (400, 405, 406, 416, 501)  # what a server says that does not know requests for parts
_SPARE = 256 * 2**20  # bytes of the disk that stay free


def fetched(download: Download, stop: threading.Event) -> Iterator[int]:
    """Download what is missing, yielding the bytes that are here so far.

    Goes on where it was broken off, also in an earlier process. Raises ``ModelError``, and
    ``StoppedError`` soon after ``stop`` is set, keeping what is here.
    """
    with explaining(download.repo), _alone(download):
        for folder in (download.store / "blobs", download.store / "refs", download.folder):
            folder.mkdir(parents=True, exist_ok=True)
        _check_space(download)
        yield from _parts(download, stop)
        (download.store / "refs" / "main").write_text(download.revision, encoding="utf-8")


def _parts(download: Download, stop: threading.Event) -> Iterator[int]:
    done = 0
    for part in download.parts:
        blob = download.store / "blobs" / part.digest
        if not blob.is_file() and not (download.folder / part.name).is_file():
            for count in _streamed(download, part, stop):
                yield done + count
            _check(download, part, stop)
            os.replace(download.unfinished(part), blob)
        _link(blob, download.folder / part.name)
        done += part.size
        yield done


@contextmanager
def _alone(download: Download) -> Iterator[None]:
    """One program at a time downloads a checkpoint."""
    folder = Path(constants.HF_HUB_CACHE) / ".locks" / download.store.name
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / "gleanvid.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise ModelError(f"{download.repo} is being downloaded already: wait for it.") from error
    try:
        yield
    finally:
        lock.release()


def _check_space(download: Download) -> None:
    free = shutil.disk_usage(download.store).free - _SPARE
    if download.missing > free:
        raise ModelError(
            f"{download.repo} needs {download.missing / 1e9:.1f} GB on the disk, and "
            f"{max(0, free) / 1e9:.1f} GB are free: make room, or set HF_HOME to a folder on "
            "another disk."
        )


def _streamed(download: Download, part: Part, stop: threading.Event) -> Iterator[int]:
    """Bytes of the file so far. A connection that breaks is made again where it broke.

    Where the server knows no requests for parts, the file is begun anew.
    """
    file, tries = download.unfinished(part), 0
    file.touch()
    most = have = file.stat().st_size
    while have < part.size:
        broke: HTTPError = HTTPError("nothing came")
        try:
            yield from _read(download, part, have, stop)
        except HfHubHTTPError as error:  # an answer, not a broken connection
            if not have or error.response.status_code not in _ODD:
                raise
            file.write_bytes(b"")
        except HTTPError as error:
            broke = error
        have = file.stat().st_size
        tries = 0 if have - most >= _LEAST else tries + 1
        most = max(most, have)
        if have < part.size and tries >= _TRIES:
            raise broke
        if have < part.size and stop.wait(_PAUSE_S * tries):
            raise StoppedError


def _read(download: Download, part: Part, have: int, stop: threading.Event) -> Iterator[int]:
    url = hf_hub_url(download.repo, part.name, revision=download.revision)
    head, pieces = asked(url, stop, have)
    with download.unfinished(part).open("ab" if head.part else "wb") as file:
        since, before = time.monotonic(), file.tell()
        for piece in pieces:
            file.write(piece)
            yield file.tell()
            if file.tell() > part.size:
                return  # nothing that was announced
            if time.monotonic() - since > _LEAST_S:
                if file.tell() - before < _LEAST:
                    raise HTTPError("next to nothing came")
                since, before = time.monotonic(), file.tell()


def _check(download: Download, part: Part, stop: threading.Event) -> None:
    """Raises ``ModelError`` where a file is not the one that was announced, which then goes."""
    path = download.unfinished(part)
    digest = hashlib.sha256() if part.large else hashlib.sha1(b"blob %d\0" % part.size)
    with path.open("rb") as file:
        while piece := file.read(2**20):
            if stop.is_set():
                raise StoppedError
            digest.update(piece)
    if digest.hexdigest() != part.digest:
        path.unlink()
        raise ModelError(
            f"{part.name} of {download.repo} came damaged and was deleted. Choose it again; if "
            "this repeats, look at the disk, the proxy or the mirror."
        )


def _link(blob: Path, target: Path) -> None:
    """The file by its name; moved there where the system has no links."""
    if target.is_file():
        return
    target.unlink(missing_ok=True)  # a link whose file is gone
    try:
        target.symlink_to(Path("../../blobs") / blob.name)
    except OSError:
        os.replace(blob, target)
