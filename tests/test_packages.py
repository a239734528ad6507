"""Packages that the tools download are accepted only with the expected hash."""

import hashlib

import pytest

from tools import packages
from tools.packages import Package, cached


def test_package_whose_hash_differs_from_the_lock_file_is_refused(monkeypatch, tmp_path):
    def download(package, folder):
        path = folder / "weights-1.0-py3-none-any.whl"
        path.write_bytes(b"weights")
        return path

    monkeypatch.setattr(packages, "download", download)
    right = Package("weights==1.0", hashlib.sha256(b"weights").hexdigest(), "MIT")
    with pytest.raises(ValueError, match=r"weights==1.0: not the package whose hash"):
        cached(Package("weights==1.0", "0" * 64, "MIT"), tmp_path)
    assert not list(tmp_path.iterdir())
    assert cached(right, tmp_path).read_bytes() == b"weights"

    cached(right, tmp_path).write_bytes(b"changed on the disk")
    assert cached(right, tmp_path).read_bytes() == b"weights"
