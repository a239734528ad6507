"""Downloads a checkpoint into the cache of huggingface_hub, byte by byte.

Its own ``snapshot_download`` tells progress in steps of 10 MiB, begins broken files anew in the
next call and cannot be ended; it is the way back where a server answers in another way than the
hub. Files lie where it puts them, so every program that uses that cache finds them.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from huggingface_hub import HfApi, constants, get_session, hf_hub_url, snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HTTPError
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

from gleanvid.errors import ModelError, StoppedError
from gleanvid.models.loading.hub import explaining, is_reachable, unreachable

_KINDS = (".safetensors", ".json", ".jinja", ".txt", ".model")  # neither pickles nor other formats
_TRIES = 5  # without a byte more
_PAUSE_S = 0.5  # times the number of tries, before the next
_READ_S = 15.0  # silence that counts as a broken connection
_ODD = (400, 405, 406, 416, 501)  # what a server says that does not know requests for parts
_DIGEST = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")  # they become names of files
_SPARE = 256 * 2**20  # bytes of the disk that stay free


@dataclass(frozen=True)
class Part:
    """One file: ``digest`` is its sha256 where it is ``large`` (LFS), else git's sha1."""

    name: str
    size: int
    digest: str
    large: bool


@dataclass(frozen=True)
class Download:
    """The files of one revision that loading needs; small ones first, weights last."""

    repo: str
    revision: str
    parts: tuple[Part, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(part.size for part in self.parts)

    @property
    def weights(self) -> int:
        """Bytes of the weights."""
        return sum(part.size for part in self.parts if part.name.endswith(".safetensors"))

    @property
    def missing(self) -> int:
        """Bytes that are not here yet."""
        return self.size - sum(min(part.size, self.here(part)) for part in self.parts)

    @property
    def store(self) -> Path:
        """The checkpoint's folder in the cache."""
        folder = repo_folder_name(repo_id=self.repo, repo_type="model")
        return Path(constants.HF_HUB_CACHE) / folder

    @property
    def folder(self) -> Path:
        """Where the files lie by name once they are here."""
        return self.store / "snapshots" / self.revision

    def unfinished(self, part: Part) -> Path:
        """The file while it is on its way."""
        return self.store / "blobs" / f"{part.digest}.incomplete"

    def here(self, part: Part) -> int:
        """Bytes of a file that are here."""
        blob, unfinished = self.store / "blobs" / part.digest, self.unfinished(part)
        if blob.is_file() or (self.folder / part.name).is_file():
            return part.size
        return unfinished.stat().st_size if unfinished.is_file() else 0


def listed(repo: str) -> Download:
    """What there is to download, in two requests. Raises ``ModelError``."""
    if not is_reachable():
        raise unreachable(repo)
    api = HfApi(endpoint=constants.ENDPOINT)
    with explaining(repo):
        revision = str(api.model_info(repo, timeout=_READ_S).sha)
        tree = [item for item in api.list_repo_tree(repo, revision=revision) if _is_wanted(item)]
    parts = [_part(item) for item in tree if isinstance(item, RepoFile)]
    if not all(_DIGEST.fullmatch(name) for name in (revision, *(part.digest for part in parts))):
        raise ModelError(f"{constants.ENDPOINT} is no hub: what it calls digests are none.")
    if not any(part.name.endswith(".safetensors") for part in parts):
        raise ModelError(f"{repo} has no weights as safetensors, the one format that is read.")
    return Download(repo, revision, tuple(sorted(parts, key=_weights_last)))


def config_of(download: Download) -> dict[str, Any]:
    """Its config.json, read before the rest is downloaded. Raises ``ModelError``."""
    url = hf_hub_url(download.repo, "config.json", revision=download.revision)
    with explaining(download.repo):
        answer = get_session().get(url, headers=build_hf_headers(), timeout=_READ_S)
        hf_raise_for_status(answer)
    try:
        found = answer.json()
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ModelError(f"{download.repo} is damaged: its config.json is no object.")
    return found


def fetched(download: Download, stop: threading.Event) -> Iterator[int]:
    """Download what is missing, yielding the bytes that are here so far.

    Goes on where it was broken off, also in an earlier process. Raises ``ModelError``, and
    ``StoppedError`` soon after ``stop`` is set, keeping what is here.
    """
    with explaining(download.repo), _alone(download):
        for folder in (download.store / "blobs", download.store / "refs", download.folder):
            folder.mkdir(parents=True, exist_ok=True)
        _check_space(download)
        try:
            yield from _parts(download, stop)
        except HfHubHTTPError as error:
            if error.response.status_code not in _ODD:
                raise
            _by_huggingface_hub(download)
            yield download.size
        (download.store / "refs" / "main").write_text(download.revision, encoding="utf-8")


def _parts(download: Download, stop: threading.Event) -> Iterator[int]:
    done = 0
    for part in download.parts:
        blob = download.store / "blobs" / part.digest
        if not blob.is_file() and not (download.folder / part.name).is_file():
            for count in _streamed(download, part, stop):
                yield done + count
            _check(download, part)
            os.replace(download.unfinished(part), blob)
        _link(blob, download.folder / part.name)
        done += part.size
        yield done


def _by_huggingface_hub(download: Download) -> None:
    """The way back, for servers that answer in another way than the hub."""
    names = [part.name for part in download.parts]
    snapshot_download(download.repo, revision=download.revision, allow_patterns=names)


def _is_wanted(item: object) -> bool:
    if not isinstance(item, RepoFile) or re.search(r"[/\\]", item.path):
        return False
    return item.path.endswith(_KINDS) and not item.path.startswith("consolidated")


def _part(item: RepoFile) -> Part:
    if item.lfs is None:
        return Part(item.path, item.size, item.blob_id, False)
    return Part(item.path, item.size, item.lfs.sha256, True)


def _weights_last(part: Part) -> tuple[bool, str]:
    return part.name.endswith(".safetensors"), part.name


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
    """Bytes of the file so far. A connection that breaks is made again where it broke."""
    file, tries = download.unfinished(part), 0
    file.touch()
    while (have := file.stat().st_size) < part.size:
        if stop.is_set():
            raise StoppedError
        broke: HTTPError = HTTPError("nothing came")
        try:
            yield from _read(download, part, have, stop)
        except HfHubHTTPError:  # an answer, not a broken connection
            raise
        except HTTPError as error:
            broke = error
        tries = 0 if file.stat().st_size > have else tries + 1
        if tries == _TRIES:
            raise broke
        stop.wait(_PAUSE_S * tries)


def _read(download: Download, part: Part, have: int, stop: threading.Event) -> Iterator[int]:
    url = hf_hub_url(download.repo, part.name, revision=download.revision)
    headers = build_hf_headers() | {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    with get_session().stream("GET", url, headers=headers, timeout=_READ_S) as answer:
        hf_raise_for_status(answer)
        with download.unfinished(part).open("ab" if answer.status_code == 206 else "wb") as file:
            for piece in answer.iter_bytes():
                if stop.is_set():
                    raise StoppedError
                file.write(piece)
                yield file.tell()
                if file.tell() > part.size:
                    return  # nothing that was announced


def _check(download: Download, part: Part) -> None:
    """Raises ``ModelError`` where a file is not the one that was announced, which then goes."""
    path = download.unfinished(part)
    digest = hashlib.sha256() if part.large else hashlib.sha1(b"blob %d\0" % part.size)
    with path.open("rb") as file:
        while piece := file.read(2**20):
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
