"""List the files of a checkpoint on the hub that loading needs, and read its configuration."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi, constants, get_session, hf_hub_url
from huggingface_hub.utils import build_hf_headers, hf_raise_for_status, validate_repo_id

from gleanvid.errors import ModelError
from gleanvid.models.loading.background import in_background, result_of
from gleanvid.models.loading.hub import SILENCE_S, explaining, is_reachable, unreachable

# Endings of the files to download. Pickles are left out, because they can contain code.
_FORMATS = (".safetensors", ".json", ".jinja", ".txt", ".model")
# Strict, as files are named after their digests: a malformed one could be a harmful path.
_DIGEST = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True)
class File:
    """A file of a checkpoint.

    ``digest``: sha256 of a large file (stored with git LFS), else git's sha1. ``size`` is in bytes.
    """

    name: str
    size: int
    digest: str
    is_large: bool

    @property
    def has_weights(self) -> bool:
        return self.name.endswith(".safetensors")


@dataclass(frozen=True)
class Download:
    """The files of one revision of a checkpoint that loading needs; weights come last."""

    repo: str
    revision: str
    files: tuple[File, ...]

    @property
    def size(self) -> int:
        """Total size of all files in bytes."""
        return sum(file.size for file in self.files)

    @property
    def weights(self) -> int:
        """Total size of the weight files in bytes."""
        return sum(file.size for file in self.files if file.has_weights)

    @property
    def missing(self) -> int:
        """Number of bytes that are still to be downloaded."""
        return self.size - sum(min(file.size, self.received(file)) for file in self.files)

    @property
    def store(self) -> Path:
        """The checkpoint's folder in the cache of huggingface_hub."""
        return Path(constants.HF_HUB_CACHE) / f"models--{self.repo.replace('/', '--')}"

    @property
    def folder(self) -> Path:
        """Folder of this revision in the cache; has every complete file under its own name."""
        return self.store / "snapshots" / self.revision

    def part(self, file: File) -> Path:
        """Path of the partial download of a file."""
        return self.store / "blobs" / f"{file.digest}.incomplete"

    def is_complete(self, file: File) -> bool:
        """Whether the whole file is in the cache."""
        return (self.store / "blobs" / file.digest).is_file() or (self.folder / file.name).is_file()

    def received(self, file: File) -> int:
        """Number of bytes of a file that are in the cache, complete or not."""
        if self.is_complete(file):
            return file.size
        part = self.part(file)
        return part.stat().st_size if part.is_file() else 0


def list_files(repo: str, stop: threading.Event | None = None) -> Download:
    """List the files of a checkpoint that loading needs, with one request to the hub.

    Raises ``ModelError`` if the hub does not answer or the checkpoint has no safetensors files, and
    ``StoppedError`` soon after ``stop`` is set.
    """
    if not is_reachable():
        raise unreachable(repo)
    with explaining(repo):
        validate_repo_id(repo)
        call = in_background(HfApi().model_info, repo, files_metadata=True, timeout=SILENCE_S)
        try:
            info = result_of(call, stop)
            revision, files = _digest(info.sha), [_file(each) for each in info.siblings or ()]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            text = (
                f"{constants.ENDPOINT} is not a model hub: it does not list the files of a model."
            )
            raise ModelError(text) from error
    needed = filter(_is_needed, files)
    download = Download(repo, revision, tuple(sorted(needed, key=lambda file: file.has_weights)))
    if not download.weights:
        raise ModelError(f"{repo} has no weights in safetensors format, the only one that is read.")
    return download


def read_config(download: Download, stop: threading.Event | None = None) -> dict[str, Any]:
    """Read a checkpoint's config.json from the hub; raises what :func:`list_files` raises."""
    url = hf_hub_url(download.repo, "config.json", revision=download.revision)
    with explaining(download.repo):
        call = in_background(get_session().get, url, headers=build_hf_headers(), timeout=SILENCE_S)
        answer = result_of(call, stop)
        hf_raise_for_status(answer)
    try:
        return dict(answer.json())
    except (ValueError, TypeError) as error:
        text = f"{download.repo} is damaged: its config.json is not a JSON object."
        raise ModelError(text) from error


def _file(listed: Any) -> File:
    """Return the file that an entry of the hub's list describes.

    Raises ``ValueError``, ``TypeError`` or ``KeyError`` if the entry is malformed.
    """
    digest = listed.lfs["sha256"] if listed.lfs else listed.blob_id
    return File(listed.rfilename, int(listed.size), _digest(digest), bool(listed.lfs))


def _digest(text: Any) -> str:
    if not _DIGEST.fullmatch(str(text)):
        raise ValueError(f"{text!r} is not a SHA-1 or SHA-256 digest")
    return str(text)


def _is_needed(file: File) -> bool:
    is_elsewhere = re.search(r"[/\\]|^consolidated", file.name)  # other formats of the same weights
    return file.name.endswith(_FORMATS) and not is_elsewhere
