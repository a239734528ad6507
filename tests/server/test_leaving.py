"""An ended server leaves no files; files of a killed server are deleted at the next start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from components.server import uploads

WAIT = """
import os, time
from pathlib import Path
from components.server import uploads
uploads.exit_on_signals()
with uploads.own_folder() as folder:
    Path(folder, "clip.mp4").write_bytes(b"x")
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def started(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))  # the operator's
    process = subprocess.Popen([sys.executable, "-c", WAIT], stdout=subprocess.PIPE, text=True)
    folder = process.stdout.readline().strip()
    yield process, folder
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.parametrize("name", uploads.ENDING)
def test_signal_deletes_the_folder_and_says_so(started, name, tmp_path):
    process, folder = started
    assert os.path.isfile(f"{folder}/clip.mp4") and Path(folder).parent == tmp_path
    (tmp_path / "of_another_server.mp4").write_bytes(b"x")
    for _ in range(3):  # one that comes again does not interrupt the cleaning up
        process.send_signal(getattr(signal, name))
        time.sleep(0.01)
    assert process.wait(20) == 128 + getattr(signal, name)
    assert name in process.stdout.read() and not os.path.exists(folder)
    assert (tmp_path / "of_another_server.mp4").exists()


def test_folder_of_a_killed_server_goes_at_the_next_start(started, tmp_path):
    process, folder = started
    uploads.delete_stale(tmp_path)
    assert os.path.isfile(f"{folder}/clip.mp4")  # its server is still running
    process.kill()
    process.wait()
    uploads.delete_stale(tmp_path)
    assert not os.path.exists(folder)


def test_other_folders_stay(tmp_path):
    kept = [tmp_path / name for name in ("other-1", "gleanvid-new", "gleanvid-link")]
    kept[0].mkdir()
    kept[1].mkdir()
    kept[2].symlink_to(kept[0])
    uploads.delete_stale(tmp_path)
    assert all(path.exists() for path in kept)
    old = time.time() - 2 * uploads.YOUNG_S
    os.utime(kept[1], (old, old))
    uploads.delete_stale(tmp_path)
    assert not kept[1].exists() and kept[0].exists()
