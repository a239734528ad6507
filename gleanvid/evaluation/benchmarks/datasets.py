"""Fetches a published dataset from the Hugging Face hub and unpacks it once."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path
from typing import Any

from gleanvid.evaluation.benchmarks.base import BenchmarkError


def fetch(repository: str, revision: str | None = None) -> Path:
    """Return the folder of a dataset, with its archives unpacked, inside the hub's cache.

    Nothing is fetched or unpacked twice. Raises :class:`BenchmarkError` if there is no network, no
    access, or no disk space.
    """
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.constants import HF_HOME
    except ImportError as error:
        raise BenchmarkError("fetching a dataset needs the package huggingface_hub") from error
    try:
        snapshot = Path(snapshot_download(repository, repo_type="dataset", revision=revision))
    except (OSError, ValueError, RuntimeError) as error:  # the hub's errors derive from these
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise BenchmarkError(
            f"The dataset {repository} could not be fetched ({reason}). Download it where there is "
            f"a network (hf download {repository} --repo-type dataset --local-dir DIR), unpack its "
            "archives there, and pass data=DIR (--data DIR)."
        ) from error
    place = Path(HF_HOME) / "gleanvid" / repository.replace("/", "--") / (revision or "main")
    return unpack(snapshot, place)


def unpack(snapshot: Path, target: Path) -> Path:
    """Fill ``target`` with the files of ``snapshot`` and the contents of its archives.

    The archive ``snapshot/a/b.zip`` is unpacked into ``target/a``. The parts of a split tar file,
    ``x.tar.part.aa`` and so on, are unpacked as one. Files ending in ``.unpacked`` mark archives
    that are fully unpacked.
    """
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(snapshot.rglob("*")):
        if not path.is_file():
            continue
        inside = target / path.relative_to(snapshot)
        inside.parent.mkdir(parents=True, exist_ok=True)
        archive = path.suffix in (".zip", ".tar") or path.name.endswith((".tar.gz", ".part.aa"))
        if archive:
            marker = inside.with_name(inside.name + ".unpacked")
            if not marker.exists():
                _unpack_one(path, inside.parent)
                marker.touch()
        elif ".part." not in path.name and not inside.exists():
            inside.symlink_to(path.resolve())
    return target


def _unpack_one(archive: Path, target: Path) -> None:
    try:
        if archive.suffix == ".zip":
            with zipfile.ZipFile(archive) as opened:
                opened.extractall(target)
            return
        parts = [archive]
        if archive.name.endswith(".part.aa"):
            parts = sorted(archive.parent.glob(archive.name[: -len("aa")] + "*"))
        with _Parts(parts) as stream, tarfile.open(fileobj=stream, mode="r|*") as tar:
            tar.extractall(target, filter="data")
    except (OSError, zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
        raise BenchmarkError(f"{archive} could not be unpacked: {error}") from error


class _Parts:
    """Reads several files one after the other as one stream."""

    def __init__(self, paths: list[Path]) -> None:
        self.left = list(paths)
        self.file = self.left.pop(0).open("rb")

    def read(self, size: int) -> bytes:
        """Read up to ``size`` bytes; fewer only at the very end."""
        got = self.file.read(size)
        while len(got) < size and self.left:
            self.file.close()
            self.file = self.left.pop(0).open("rb")
            got += self.file.read(size - len(got))
        return got

    def __enter__(self) -> Any:  # what tarfile asks for has many more methods
        return self

    def __exit__(self, *exception: object) -> None:
        self.file.close()
