"""If the decoding process hangs, crashes or takes too much, the user gets one sentence."""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from gleanvid.types import StoppedError, VideoError
from gleanvid.video import read_video
from gleanvid.video.isolation import sandbox, spare, worker
from tests.video.clips import numbers, write_clip

HANG = "while True: pass"
CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
LEAVE = "import sys; sys.exit('the library said no')"
NOISE = "import os; os.write(1, b'banner of a native library' * 1000)\n"
MISSING = "raise ImportError('libav.so: not found')"
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all limits")


@pytest.fixture(autouse=True)
def kept(monkeypatch):
    monkeypatch.setattr(spare, "KEPT", fresh := spare.Spare())
    return fresh


@pytest.fixture
def clip(tmp_path):
    return write_clip(tmp_path / "clip.mp4", 40)


@pytest.fixture
def started(monkeypatch):
    processes = []

    class Recorded(subprocess.Popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            processes.append(self)

    monkeypatch.setattr(spare.subprocess, "Popen", Recorded)
    return processes


def fake(monkeypatch, folder, source, package="av"):
    """Let decoding processes import a package of the given source."""
    (folder / "fake" / package).mkdir(parents=True)
    (folder / "fake" / package / "__init__.py").write_text(source)
    monkeypatch.syspath_prepend(folder / "fake")
    monkeypatch.delitem(sys.modules, package, raising=False)


def test_decoder_that_hangs_is_killed_at_its_deadline(clip, monkeypatch, tmp_path, started):
    fake(monkeypatch, tmp_path, HANG)
    begin = time.monotonic()
    with pytest.raises(VideoError, match=r"clip\.mp4 took longer than 1 seconds"):
        read_video(clip, timeout_s=1)
    assert time.monotonic() - begin < 30
    assert [process.returncode for process in started] == [-9]


def test_stopping_a_read_ends_the_decoder_process_at_once(clip, monkeypatch, started):
    monkeypatch.setattr(spare, "START", "import time; time.sleep(77)")
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    begin = time.monotonic()
    with pytest.raises(StoppedError):
        read_video(clip, 2, stop=stop)
    assert time.monotonic() - begin < 30
    assert [process.returncode for process in started] == [-9]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (CRASH, r"crashed on clip\.mp4 \(signal 11\); the file is damaged"),
        (LEAVE, r"crashed on clip\.mp4; the file is damaged"),
        (NOISE + MISSING, r"needs the package 'av' \(libav.so: not found\).*pip install av"),
    ],
)
def test_failing_decoder_raises_a_readable_error(
    clip, monkeypatch, tmp_path, started, source, words
):
    fake(monkeypatch, tmp_path, source)
    with pytest.raises(VideoError, match=words):
        read_video(clip)
    assert all(process.returncode is not None for process in started)
    assert not list(tmp_path.rglob("*.pyc"))  # the decoder may write no file


@on_linux
@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import mmap; mmap.mmap(-1, {})", r"crashed on clip\.mp4"),
        ("bytearray({})", r"clip\.mp4 needs more memory"),
    ],
)
def test_decoder_over_its_memory_limit_ends_with_a_readable_error(
    clip, monkeypatch, tmp_path, source, words
):
    fake(monkeypatch, tmp_path, source.format(worker.MAX_MEMORY_BYTES))
    with pytest.raises(VideoError, match=words):
        read_video(clip)


@on_linux
def test_decoder_over_its_cpu_limit_is_killed_by_the_system(clip, monkeypatch, tmp_path):
    fake(monkeypatch, tmp_path, HANG, "cv2")
    monkeypatch.setattr(sandbox.os, "cpu_count", lambda: 1 / 300)  # 2 seconds of CPU time
    with pytest.raises(VideoError, match="signal 9"):
        read_video(clip, backend="opencv", timeout_s=300)


@on_linux
def test_decoder_cannot_write_a_file(clip, monkeypatch, tmp_path):
    fake(monkeypatch, tmp_path, f"open({str(tmp_path / 'new')!r}, 'wb', 0).write(b'x')")
    with pytest.raises(VideoError, match="crashed"):
        read_video(clip)
    assert (tmp_path / "new").read_bytes() == b""


def test_decoding_in_a_separate_process_gives_the_same_video(clip, started):
    apart, here = read_video(clip, 8), read_video(clip, 8, isolate=False)
    assert len(started) == 1 and started[0].returncode is not None
    for field in ("frames", "timestamps", "indices"):
        assert np.array_equal(getattr(apart, field), getattr(here, field))
    for field in ("fps", "duration", "total_frames", "source_size", "name", "backend", "notes"):
        assert getattr(apart, field) == getattr(here, field)
    assert apart.frames.flags.writeable


def test_frames_in_4k_and_turned_frames_arrive_unchanged(tmp_path):
    for name, size, turned in (
        ("4k.mp4", (2160, 3840), {}),
        ("phone.mp4", (480, 640), {"turns": 1}),
    ):
        path = write_clip(tmp_path / name, 2, size=size, rotation=90 * len(turned), **turned)
        apart, here = read_video(path, 2).frames, read_video(path, 2, isolate=False).frames
        assert np.array_equal(apart, here) and numbers(apart) == [0, 1]


def test_decoding_in_a_separate_process_gives_the_same_error(clip):
    clip.write_bytes(clip.read_bytes()[:600])
    sentences = []
    for isolate in (True, False):
        with pytest.raises(VideoError) as caught:
            read_video(clip, isolate=isolate)
        sentences.append(str(caught.value))
    assert sentences[0] == sentences[1]


def test_several_threads_can_read_videos_at_once(clip):
    results = {}

    def work(count):
        results[count] = numbers(read_video(clip, count).frames)

    threads = [threading.Thread(target=work, args=(count,)) for count in (3, 5, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    wanted = {n: np.linspace(0, 39, n).round().astype(int).tolist() for n in (3, 5, 9)}
    assert results == wanted


def test_reading_in_a_script_needs_no_main_guard_and_imports_no_neighbouring_module(clip, tmp_path):
    """A file ``random.py`` next to the caller's script would otherwise hide Python's module."""
    folder = tmp_path / "project"
    (folder / "numpy").mkdir(parents=True)
    beside = [str(folder / name) for name in ("random.py", "numpy/__init__.py")]
    script = folder / "script.py"
    script.write_text(
        f"import sys; own = sys.path.pop(0); sys.path[:0] = {sys.path!r}\n"
        "from gleanvid.video import read_video\n"
        # The script has already imported the real random and numpy. Only the decoding process
        # could import the fake ones.
        "sys.path.insert(0, own)\n"
        f"for name in {beside}: open(name, 'w').write('raise SystemExit(3)')\n"
        f"print(read_video({clip.name!r}, 4).indices.tolist())\n"
    )
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=clip.parent)
    assert done.stdout.strip() == "[0, 13, 26, 39]", done.stderr


def test_decoding_process_does_not_import_torch():
    code = (
        "import sys, gleanvid.video.isolation.worker, gleanvid.video.decoders.pyav\n"
        "print('torch' in sys.modules)"
    )
    start = f"import sys; sys.path[:0] = {sys.path!r}; {code}"
    done = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


def test_spare_decoder_process_is_used_and_replaced_and_skipped_if_dead(kept):
    kept.keep()
    first = kept._waiting.result()
    assert kept.take() is first
    kept.refill()
    dead = kept._waiting.result()
    dead.process.kill()
    dead.process.wait()
    second = kept.take()
    assert second is not dead and second.process.poll() is None
    first.end()
    second.end()
