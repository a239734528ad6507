"""The decoding process: hangs, crashes, missing packages end in a sentence; nothing is left."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from gleanvid.types import VideoError
from gleanvid.video import read_video
from gleanvid.video.isolation import spare, worker
from gleanvid.video.isolation.spare import Decoder
from tests.video.clips import numbers, write_clip

HANG = "while True: pass"
CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
LEAVE = "import sys; sys.exit('the library said no')"
MISSING = "raise ImportError('libav.so: not found')"
NOISE = "import os; os.write(1, b'banner of a native library' * 1000)\n"


@pytest.fixture(autouse=True)
def none_in_hand(monkeypatch):
    """A server of this process keeps a decoder started; here every reading starts its own."""
    monkeypatch.setattr(spare, "KEPT", spare.Spare())


@pytest.fixture
def clip(tmp_path):
    return write_clip(tmp_path / "clip.mp4", 40)


@pytest.fixture
def started(monkeypatch):
    """The processes that were started."""
    processes = []

    class Recorded(subprocess.Popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            processes.append(self)

    monkeypatch.setattr(spare.subprocess, "Popen", Recorded)
    return processes


def pretend(monkeypatch, tmp_path, source):
    """Have the decoding process import a fake PyAV, which this process would import, too."""
    (tmp_path / "fake" / "av").mkdir(parents=True)
    (tmp_path / "fake" / "av" / "__init__.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path / "fake")
    monkeypatch.delitem(sys.modules, "av", raising=False)


def test_a_hanging_decoder_is_stopped_in_time(clip, monkeypatch, tmp_path, started):
    pretend(monkeypatch, tmp_path, HANG)
    begin = time.monotonic()
    with pytest.raises(VideoError, match=r"clip\.mp4 took longer than 1 seconds"):
        read_video(clip, timeout_s=1)
    assert time.monotonic() - begin < 5
    assert [process.returncode for process in started] == [-9]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (CRASH, r"crashed on clip\.mp4 \(signal 11\)"),
        (LEAVE, r"crashed on clip\.mp4 \(the library said no\)"),
        (MISSING, r"needs the package 'av'.*pip install av"),
    ],
)
def test_a_failing_decoder_is_a_sentence(clip, monkeypatch, tmp_path, started, source, words):
    pretend(monkeypatch, tmp_path, source)
    with pytest.raises(VideoError, match=words):
        read_video(clip)
    assert all(process.returncode is not None for process in started)


def test_the_memory_limit_is_in_force(clip, monkeypatch, tmp_path):
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux keeps a process to its address space")
    pretend(monkeypatch, tmp_path, f"import mmap; mmap.mmap(-1, {worker.MAX_MEMORY_BYTES})")
    with pytest.raises(VideoError, match=r"crashed on clip\.mp4 .*Cannot allocate memory"):
        read_video(clip)
    pretend(monkeypatch, tmp_path / "2", f"bytearray({worker.MAX_MEMORY_BYTES})")
    with pytest.raises(VideoError, match=r"clip\.mp4 needs more memory"):
        read_video(clip)


def test_what_a_library_prints_does_not_reach_the_pictures(clip, monkeypatch, tmp_path):
    pretend(monkeypatch, tmp_path, NOISE + MISSING)
    with pytest.raises(VideoError, match="needs the package"):
        read_video(clip)


def test_both_ways_give_the_same_video(clip, started):
    apart, here = read_video(clip, 8), read_video(clip, 8, isolate=False)
    assert len(started) == 1
    assert started[0].returncode is not None
    for field in ("frames", "timestamps", "indices"):
        assert np.array_equal(getattr(apart, field), getattr(here, field))
    for field in ("fps", "duration", "total_frames", "source_size", "name", "backend", "notes"):
        assert getattr(apart, field) == getattr(here, field)
    assert apart.frames.flags.writeable


def test_an_error_is_the_same_in_both_ways(clip):
    clip.write_bytes(clip.read_bytes()[:600])
    with pytest.raises(VideoError) as apart:
        read_video(clip)
    with pytest.raises(VideoError) as here:
        read_video(clip, isolate=False)
    assert str(apart.value) == str(here.value)


def test_from_several_threads_at_once(clip):
    results = {}

    def work(count):
        results[count] = numbers(read_video(clip, count).frames)

    threads = [threading.Thread(target=work, args=(count,)) for count in (3, 5, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for count, found in results.items():
        assert found == np.linspace(0, 39, count).round().astype(int).tolist()
    assert len(results) == 3


def test_a_script_needs_no_main_guard_and_modules_beside_it_are_not_the_decoder_s(clip, tmp_path):
    """From another folder, by a name that holds there."""
    beside = [str(tmp_path / "beside" / name) for name in ("random.py", "numpy/__init__.py")]
    (tmp_path / "beside" / "numpy").mkdir(parents=True)
    script = tmp_path / "beside" / "script.py"
    script.write_text(
        f"import sys; own = sys.path.pop(0); sys.path[:0] = {sys.path!r}\n"
        "from gleanvid.video import read_video\n"
        "sys.path.insert(0, own)\n"  # those of this process are imported by now
        f"for name in {beside}: open(name, 'w').write('raise SystemExit(3)')\n"
        f"print(read_video({clip.name!r}, 4).indices.tolist())\n"
    )
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=clip.parent)
    assert done.stdout.strip() == "[0, 13, 26, 39]", done.stderr


def test_the_decoder_finds_its_packages_by_their_folders_alone():
    """Of an installation, and of a checkout on the caller's path."""
    folders = [Path(folder) for folder in spare.places()]
    assert Path(worker.__file__).parents[3] in folders
    assert all(any((folder / name).is_dir() for folder in folders) for name in ("numpy", "av"))


def test_the_decoding_process_does_not_import_torch():
    code = "import sys, gleanvid.video.isolation.worker, gleanvid.video.decoders.pyav; print('torch' in sys.modules)"
    start = f"import sys; sys.path[:0] = {sys.path!r}; {code}"
    done = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


def test_the_process_writes_no_bytecode():
    """Under its limit on file size Python would leave cut-off files behind."""
    decoder = Decoder()
    try:
        assert "-B" in decoder.process.args
    finally:
        decoder.end()
