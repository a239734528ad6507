"""What a checkpoint on the hub consists of: the files that loading needs, and its configuration."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from huggingface_hub import constants, hf_hub_url
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.utils import validate_repo_id

from gleanvid.errors import ModelError, StoppedError
from gleanvid.models.loading.hub import explaining, is_reachable, unreachable
from gleanvid.models.loading.wire import no_hub, told

_KINDS = (".safetensors", ".json", ".jinja", ".txt", ".model")  # neither pickles nor other formats
_LISTED_S = 20.0  # for the list of files, and again for the configuration
_PAGES = 20  # of a thousand files
_DIGEST = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")  # they become names of files


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


def listed(repo: str, stop: threading.Event | None = None) -> Download:
    """What there is to download; a few requests within ``_LISTED_S`` seconds together.

    Raises ``ModelError``, and ``StoppedError`` soon after ``stop`` is set.
    """
    stop = stop or threading.Event()
    if not is_reachable():
        if stop.is_set():
            raise StoppedError
        raise unreachable(repo)
    api, end = f"{constants.ENDPOINT}/api/models/{repo}", time.monotonic() + _LISTED_S
    with explaining(repo):
        validate_repo_id(repo)
        about, _ = told(api, stop, _LISTED_S)
        revision = str(about.get("sha")) if isinstance(about, dict) else ""
        if not _DIGEST.fullmatch(revision):
            raise no_hub("what it calls digests are none")
        tree = list(_tree(f"{api}/tree/{revision}", stop, end))
    parts = [_part(item) for item in tree if _is_wanted(item)]
    if not any(part.name.endswith(".safetensors") for part in parts):
        raise ModelError(f"{repo} has no weights as safetensors, the one format that is read.")
    return Download(repo, revision, tuple(sorted(parts, key=_weights_last)))


def config_of(download: Download, stop: threading.Event | None = None) -> dict[str, Any]:
    """Its config.json, read before the rest is downloaded. Raises as :func:`listed`."""
    url = hf_hub_url(download.repo, "config.json", revision=download.revision)
    with explaining(download.repo):
        found, _ = told(url, stop or threading.Event(), _LISTED_S)
    if not isinstance(found, dict):
        raise ModelError(f"{download.repo} is damaged: its config.json is no object.")
    return found


def _tree(url: str, stop: threading.Event, end: float) -> Iterator[Any]:
    """Entries of the checkpoint's own folder, page by page. Raises ``ModelError``."""
    for _ in range(_PAGES):
        items, later = told(url, stop, end - time.monotonic())
        if not isinstance(items, list):
            raise no_hub("its list of files is none")
        yield from items
        if not later:
            return
        if not later.startswith(f"{constants.ENDPOINT}/"):  # it would be shown the token
            raise no_hub("its list goes on elsewhere")
        url = later
    raise no_hub("its list of files has no end")


def _is_wanted(item: Any) -> bool:
    if not isinstance(item, dict) or item.get("type") != "file":
        return False
    name = str(item.get("path"))
    return name.endswith(_KINDS) and not re.search(r"[/\\]|^consolidated", name)


def _part(item: dict[str, Any]) -> Part:
    large, size = item.get("lfs"), item.get("size")
    facts = large if isinstance(large, dict) else item
    digest = str(facts.get("oid"))
    if not isinstance(size, int) or size < 0 or not _DIGEST.fullmatch(digest):
        raise no_hub("what it calls digests are none")
    return Part(item["path"], size, digest, facts is large)


def _weights_last(part: Part) -> tuple[bool, str]:
    return part.name.endswith(".safetensors"), part.name
