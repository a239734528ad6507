"""Files of visitors stay within bounds: new ones are refused, old and broken ones go."""

from __future__ import annotations

import os
import time

import pytest

from components.files import exports
from components.files.folder import trim
from components.server import disk
from components.server.disk import FORM_BYTES, Uploads
from components.session.work.rates import RateLimit
from components.viewer import payload as viewer

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    path = tmp_path / "cache"
    path.mkdir()
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(path))
    return path


def written(path, size=10):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    return path


@pytest.mark.parametrize(
    ("length", "status"), [("", 411), ("ten", 411), ("-1", 411), (str(2 * FORM_BYTES), 413)]
)
def test_an_upload_says_its_length_and_keeps_to_it(length, status):
    uploads = Uploads(1000, 0)
    assert uploads.refusal(length)[0] == status
    assert uploads.refusal("1000") is None


def test_without_room_uploads_are_refused_until_there_is_some(folder):
    now = [0.0]
    uploads = Uploads(1000, 1000, clock=lambda: now[0])
    held = written(folder / "hash" / "clip.mp4", 500)
    assert uploads.refusal("501")[0] == 507
    assert uploads.refusal("500") is None
    assert uploads.refusal("1")[0] == 507  # the one on its way counts
    held.unlink()
    now[0] = disk.SCAN_S
    assert uploads.refusal("1000") is None


def test_one_visitor_leaves_room_for_others():
    uploads = Uploads(2 * disk.MIB, 0, RateLimit(3 * disk.MIB, 60.0))
    size = str(2 * disk.MIB)
    assert uploads.refusal(size, "a") is None and uploads.refusal(size, "a")[0] == 429
    assert uploads.refusal("1", "a") is None  # counts a whole MiB
    assert uploads.refusal("1", "a")[0] == 429
    assert uploads.refusal(size, "b") is None


def test_uploads_that_broke_off_are_deleted_by_age_and_nothing_else(folder):
    inside = written(folder / "hash" / "clip.mp4")
    broken = written(folder / "tmpabc")
    written(folder / "new").touch()
    since = broken.lstat().st_ctime + 1e-3
    while (folder / "new").lstat().st_ctime < since:
        os.utime(folder / "new")
    disk.forget(folder, since)
    assert not broken.exists() and (folder / "new").exists() and inside.exists()


def test_the_oldest_files_and_folders_go_first(folder):
    for name in ("first/a", "second", "third/b", "fourth"):
        written(folder / name, 10)
        time.sleep(0.02)  # ages are told apart by the clock of the file system
    trim(folder, 25)
    assert sorted(path.name for path in folder.iterdir()) == ["fourth", "third"]


def test_exports_and_views_together_stay_within_bounds(folder, monkeypatch):
    monkeypatch.setattr(exports, "EXPORT_BYTES", 25)
    monkeypatch.setattr(viewer, "FOLDER_BYTES", 25)
    monkeypatch.setitem(exports.KINDS, "x", ("", lambda runs, at: written(at / "x")))
    made = [exports.make("x", []) for _ in range(9)]
    assert os.path.exists(made[-1]) and disk.bytes_in(folder / "exports") <= 25 + 10
    for number in range(9):
        viewer.publish(viewer.Packed({}, b"%d" % number * 10, b"data"))
    assert disk.bytes_in(folder / "viewer") <= 25 + 10
