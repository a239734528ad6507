import os
import time

import pytest

from components.export import exports
from components.places import ASSETS, as_served
from components.server import serving, uploads
from components.server.allowed import RefusedError
from components.server.uploads import MIB, Uploads
from components.viewer import payload as viewer
from components.viewer.folder import bytes_in, trim

pytestmark = pytest.mark.usefixtures("cache")


def written(path, size=10):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    return path


def status(limits, length, visitor=""):
    try:
        limits.check(str(length), visitor)
    except RefusedError as refused:
        return refused.status
    return 200


def test_uploads_are_refused_while_their_folder_is_full(cache):
    now = [0.0]
    limits = Uploads(1000, 1000, clock=lambda: now[0])
    held = written(cache / "hash" / "clip.mp4", 500)
    told = [status(limits, length) for length in (501, 500, 1)]
    # 500 of 1,000 bytes are stored, so 501 do not fit. 500 fit, then not even 1 more.
    assert told == [507, 200, 507]
    held.unlink()
    now[0] = uploads.SCAN_S
    assert status(limits, 1000) == 200


def test_one_visitor_cannot_fill_the_upload_folder():
    now = [0.0]
    limits = Uploads(2 * MIB, 0, 3 * MIB, 60.0, lambda: now[0])
    assert [status(limits, 2 * MIB, "a") for _ in range(2)] == [200, 429]
    # An upload counts as at least 1 MiB.
    assert [status(limits, 1, "a") for _ in range(2)] == [200, 429]
    assert status(limits, 2 * MIB, "b") == 200
    now[0] = 60.0
    assert status(limits, 2 * MIB, "a") == 200


def test_upload_limits_of_a_public_server_leave_room_for_other_visitors():
    public = serving.PUBLIC
    assert public.events < (public.places + 1) / 2
    assert 2 * public.visitor_mb <= public.disk_gb * 1024 / 10


@pytest.mark.parametrize(
    ("name", "age_s", "is_kept"),
    [
        ("tmp1", 7300, False),
        ("tmp1", 3700, True),
        ("viewer/a.bin", 7300, False),
        (f"{64 * 'a'}/clip.mp4", 7300, False),
        (f"{64 * 'a'}/clip.mp4", 3700, True),
        (f"exports/{16 * 'b'}/clip.mp4", 7300, False),
    ],
)
def test_only_old_files_of_visitors_are_deleted(cache, name, age_s, is_kept):
    path = written(cache / name)
    os.utime(path, (0, time.time() - age_s))
    uploads.delete_old(cache, keep_s=7200.0)
    assert path.exists() is is_kept


def test_old_upload_and_export_folders_are_deleted_once_empty(cache):
    for name in (64 * "a", f"exports/{16 * 'b'}"):
        file = written(cache / name / "clip.mp4")
        for is_empty in (False, True):
            os.utime(file.parent, (0, 0))
            uploads.delete_old(cache, keep_s=50.0)
            assert file.parent.exists() is not is_empty
            file.unlink(missing_ok=True)


def test_oldest_files_and_folders_are_deleted_first(cache):
    for name in ("first/a", "second", "third/b", "fourth"):
        written(cache / name, 10)
        time.sleep(0.02)  # file times must differ by more than the file system's resolution
    trim(cache, 25)
    assert sorted(path.name for path in cache.iterdir()) == ["fourth", "third"]


def test_exports_and_viewer_files_together_stay_within_the_size_limit(cache, monkeypatch):
    monkeypatch.setattr(exports, "EXPORT_BYTES", 25)
    monkeypatch.setattr(viewer, "FOLDER_BYTES", 25)
    monkeypatch.setitem(exports.KINDS, "x", ("", lambda runs, at, timed: written(at / "x")))
    made = [exports.make("x", []) for _ in range(9)]
    assert os.path.exists(made[-1]) and bytes_in(cache / "exports") <= 25 + 10
    for number in range(9):
        viewer.publish(viewer.Packed({}, b"%d" % number * 10, b"data"))
    assert bytes_in(cache / "viewer") <= 25 + 10


def test_exports_of_one_visitor_do_not_evict_exports_of_another_visitor(cache, monkeypatch):
    monkeypatch.setattr(exports, "VISITOR_BYTES", 25)
    monkeypatch.setitem(exports.KINDS, "x", ("", lambda runs, at, timed: written(at / "x")))
    first = exports.make("x", [], visitor="10.0.0.1")
    others = [exports.make("x", [], visitor="10.0.0.2") for _ in range(9)]
    left = [name for name in others if os.path.exists(name)]
    assert os.path.exists(first) and left == others[-len(left) :] and len(left) == 3


def test_assets_linked_from_the_server_s_folder_are_neither_counted_nor_deleted(cache):
    with uploads.own_folder() as own:
        linked = as_served(ASSETS / "style.css")
        assert linked.is_relative_to(own) and linked.samefile(ASSETS / "style.css")
        assert bytes_in(own) < linked.stat().st_size
        assert as_served(cache) == cache
    assert not os.path.exists(own) and (ASSETS / "style.css").is_file()
    assert as_served(ASSETS) == ASSETS


def test_freed_memory_is_given_back_only_after_files_were_deleted(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(uploads, "give_back", lambda: given.append(1))
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "clip.mp4").write_bytes(b"x")
    assert uploads.delete_old(folder, 3600.0) == 0 and not given
    assert uploads.delete_old(folder, -1.0) == 1 and given == [1]
    assert uploads.delete_old(folder, -1.0) == 0 and given == [1]
