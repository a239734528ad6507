"""Download a checkpoint into the cache of huggingface_hub: resumable, verified, with progress.

huggingface_hub itself (version 2.4) downloads an interrupted file again from its start and compares
no digests. It reports progress and can be interrupted only every 10 MiB. Here, files are written to
its cache folders, so every program that uses the cache finds them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from huggingface_hub import constants, get_session, hf_hub_url
from huggingface_hub.errors import HfHubHTTPError, HTTPError
from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

from gleanvid.errors import ModelError, StoppedError
from gleanvid.models.loading.background import in_background, polling
from gleanvid.models.loading.hub import SILENCE_S, explaining
from gleanvid.models.loading.listing import Download, File

_TRIES = 5  # give up after so many connections in a row without new data
_PAUSE_S = 0.5  # seconds before a retry, times the number of failures in a row
_SPARE = 256 * 2**20  # disk space to leave free, in bytes


def fetch(download: Download, stop: threading.Event) -> Iterator[int]:
    """Download the missing files; yield how many bytes of all files are on the disk so far.

    Resumes where an earlier call or process was interrupted. Raises ``ModelError`` if the download
    fails, and ``StoppedError`` soon after ``stop`` is set. What was received is kept on the disk.
    """
    with explaining(download.repo), _locked(download):
        for folder in (download.store / "blobs", download.store / "refs", download.folder):
            folder.mkdir(parents=True, exist_ok=True)
        _check_space(download)
        done = 0
        for file in download.files:
            blob = download.store / "blobs" / file.digest
            if not download.is_complete(file):
                for count in _receive(download, file, stop):
                    yield done + count
                _verify(download, file, stop)
                os.replace(download.part(file), blob)
            _link(blob, download.folder / file.name)
            done += file.size
            yield done
        (download.store / "refs" / "main").write_text(download.revision, encoding="utf-8")


def _receive(download: Download, file: File, stop: threading.Event) -> Iterator[int]:
    """Complete the partial file, reconnecting if necessary; yield its size in bytes so far."""
    part, failures = download.part(file), 0
    part.touch()
    url = hf_hub_url(download.repo, file.name, revision=download.revision)
    while (before := part.stat().st_size) < file.size:
        broken = HTTPError("nothing came")
        call = in_background(_append, url, part, stop)
        for _ in polling(call, stop):
            yield part.stat().st_size
        try:
            call.result()
        except HfHubHTTPError:  # an HTTP error status, not a broken connection
            raise
        except HTTPError as error:
            broken = error
        failures = 0 if part.stat().st_size > before else failures + 1
        if failures == _TRIES:
            raise broken
        if stop.wait(_PAUSE_S * failures):
            raise StoppedError


def _append(url: str, part: Path, stop: threading.Event) -> None:
    """Append the data of one connection; start anew if the server ignores ``Range``."""
    headers = build_hf_headers() | {"Accept-Encoding": "identity"}
    if received := part.stat().st_size:
        headers["Range"] = f"bytes={received}-"
    with get_session().stream("GET", url, headers=headers, timeout=SILENCE_S) as answer:
        if answer.is_error:
            answer.read()  # read the body, which contains the reason
        hf_raise_for_status(answer)
        with part.open("ab" if answer.status_code == 206 else "wb") as file:
            for piece in answer.iter_raw():
                if stop.is_set():
                    return
                file.write(piece)


def _verify(download: Download, file: File, stop: threading.Event) -> None:
    """Check a file against the hub's digest; a mismatch deletes it and raises ``ModelError``."""
    path = download.part(file)
    digest = hashlib.sha256() if file.is_large else hashlib.sha1(b"blob %d\0" % file.size)
    with path.open("rb") as opened:
        while piece := opened.read(2**20):
            if stop.is_set():
                raise StoppedError
            digest.update(piece)
    if digest.hexdigest() != file.digest:
        path.unlink()
        raise ModelError(
            f"{file.name} of {download.repo} arrived damaged and was deleted. Load the model "
            "again; if this repeats, check the disk, the proxy or the mirror."
        )


@contextmanager
def _locked(download: Download) -> Iterator[None]:
    """Let no other process download the checkpoint; ``ModelError`` if one already does."""
    folder = Path(constants.HF_HUB_CACHE) / ".locks" / download.store.name
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / "gleanvid.lock", timeout=0):
            yield
    except Timeout as error:
        raise ModelError(f"{download.repo} is being downloaded already: wait for it.") from error


def _check_space(download: Download) -> None:
    """Raise ``ModelError`` if the missing files do not fit on the disk."""
    free = shutil.disk_usage(download.store).free - _SPARE
    if download.missing > free:
        raise ModelError(
            f"{download.repo} needs {download.missing / 1e9:.1f} GB on the disk, and "
            f"{max(0, free) / 1e9:.1f} GB are free: make room, or set HF_HOME to a folder on "
            "another disk."
        )


def _link(blob: Path, target: Path) -> None:
    """Link ``target`` to the downloaded file ``blob``; where links are impossible, move it."""
    if target.is_file():
        return
    target.unlink(missing_ok=True)  # remove a link that points to no file
    try:
        target.symlink_to(Path("../../blobs") / blob.name)
    except OSError:
        os.replace(blob, target)
