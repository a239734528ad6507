"""Opening a saved run needs limited memory, whatever the file contains."""

import ctypes
import gc
import io
import json
import os
import re
import time
import zipfile
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from components.export import exports, opening
from components.jobs.request import LONGEST
from gleanvid import Uniform
from gleanvid.video.isolation import bounds, rights, sandbox, worker
from tests.components.fake import FakeBackend, a_run, moving_square


def packed(path, text=b"{}", arrays=b""):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("run.json", text)
        archive.writestr("run.npz", arrays)
    return path


def npz(**arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def forged_header(shape):
    file = io.BytesIO()
    header = {"descr": "|u1", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("frames.npy", file.getvalue())
    return outer.getvalue()


HIDDEN = '["\u0122",' + "[]," * 100_000 + "0]"  # in UTF-16, U+0122 has the byte of a quote
# Hostile saved runs: name -> function that returns the bytes of run.json and of run.npz.
BOMBS = {
    "many lists": lambda: (b"[" + b"[],[]," * 500_000 + b"[]]", b""),
    "deep lists": lambda: (b"[" * 500_000 + b"]" * 500_000, b""),
    "many numbers": lambda: (b"[" + b"0," * 500_000 + b"0]", b""),
    "many names": lambda: (b"{" + b",".join(b'"%d":1' % n for n in range(100_000)) + b"}", b""),
    "a long text": lambda: (b'"' + b"x" * 3_000_000 + b'"', b""),
    "a text without end": lambda: (b'"' + b'\\"' * 500_000, b""),
    "hidden brackets": lambda: (HIDDEN.encode("utf-16"), npz(a=np.zeros(3))),
    "large arrays": lambda: (b"{}", npz(frames=np.zeros((200, 1000, 1000), np.uint8))),
    "a forged size": lambda: (b"{}", forged_header((2**20, 2**20))),
    "a negative size": lambda: (b"{}", forged_header((-1, 4))),
}


@cache
def bomb(name):
    return BOMBS[name]()


def write_many_members(path):
    """Write a zip file whose directory lists each of its files 20,000 times."""
    small = packed(path).read_bytes()
    start, end = small.index(b"PK\1\2"), small.index(b"PK\5\6")
    directory = small[start:end] * 20_000
    size = len(directory).to_bytes(4, "little")
    path.write_bytes(small[:start] + directory + small[end : end + 12] + size + small[end + 16 :])
    return path


def write_largest_run(folder):
    small, method = moving_square(), Uniform(0.5)
    record = method.compress(FakeBackend().tokens(small))
    side = int((bounds.MAX_RUN_BYTES / len(small) / 3) ** 0.5) - 10
    video = replace(small, frames=np.zeros((len(small), side, side, 3), np.uint8))
    return exports.saved_run([a_run(video, record, method)], folder)


def opened(path):
    """Open a saved run; return the error message or "", the peak memory in MiB, the run or None."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(
        0
    )  # otherwise the run would reuse freed memory, which is not counted
    try:
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak of VmHWM
    except OSError:
        pytest.skip("this system does not tell how much was taken at most")
    before, run, sentence = taken("VmRSS"), None, ""
    try:
        run = opening.opened(str(path))
    except ValueError as error:
        sentence = str(error)
    return sentence, taken("VmHWM") - before, run


def taken(name):
    status = Path("/proc/self/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) // 1024


@pytest.mark.parametrize("name", BOMBS)
def test_saved_run_that_is_a_decompression_bomb_is_refused_without_unpacking(tmp_path, name):
    start = time.monotonic()
    sentence, mib, _ = opened(packed(tmp_path / "run.zip", *bomb(name)))
    assert sentence in (bounds.TOO_LARGE, bounds.NO_RUN) and mib < 40
    assert time.monotonic() - start < 30


def test_saved_run_with_very_many_archive_members_is_refused(tmp_path):
    path = write_many_members(tmp_path / "run.zip")
    sentence, mib, _ = opened(path)
    assert sentence == bounds.NO_RUN and mib < 40


def test_opening_the_largest_saved_run_takes_little_more_memory_than_its_arrays(tmp_path):
    path = write_largest_run(tmp_path)
    sentence, mib, run = opened(path)
    assert run is not None and not sentence
    assert 150 < mib < 200


def test_saved_run_with_texts_of_maximum_length_is_opened(tmp_path):
    video, method = moving_square(), Uniform(0.5)
    record = method.compress(FakeBackend().tokens(video))
    run = a_run(video, record, method, question='"[{?' * (LONGEST // 4))
    path = exports.saved_run([run], tmp_path)
    again = opening.opened(str(path))
    assert again.question == run.question
    assert os.path.getsize(path) < bounds.MAX_RUN_BYTES
    assert bounds.fits(json.dumps(run.summary()).encode())


def write_changed_run(folder, name, value):
    """Write a saved run in which one array, or one metadata entry, is replaced."""
    record = Uniform(0.5).compress(FakeBackend().tokens(moving_square()))
    path = exports.saved_run([a_run(moving_square(), record, Uniform(0.5))], folder)
    with zipfile.ZipFile(path) as archive:
        facts = json.loads(archive.read("run.json"))
        arrays = dict(np.load(io.BytesIO(archive.read("run.npz"))))
    if name in arrays:
        arrays[name] = value
    else:
        part, _, key = name.partition(".")
        facts[part] = facts[part] | {key: value} if key else value
    return packed(folder / "changed.zip", json.dumps(facts).encode(), npz(**arrays))


@pytest.fixture
def unpacked_here(monkeypatch):
    """Unpack saved runs in the test's own process, as starting another takes half a second."""

    @contextmanager
    def running(task, path, timeout_s):
        worker.serve(task, path, pipe := io.BytesIO())
        pipe.seek(0)
        yield SimpleNamespace(stdout=pipe)

    monkeypatch.setattr(rights, "give_up", lambda path: None)
    monkeypatch.setattr(sandbox, "_running", running)


@pytest.mark.usefixtures("unpacked_here")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("0/keep", np.arange(448) * 1000),
        ("0/group", np.full(448, 448)),
        ("0/weight", np.ones(3, np.float32)),
        ("seconds", np.zeros((9, 2))),
        ("video.source_size", [0, 5]),
        ("cost.prefill_s", {}),
        ("question", 7),
        ("compressor", []),
        ("layers", {"0": [448, 1, 1]}),
        ("compressor.name", ["uniform"]),
        ("video.source_size", [1e30, 1e30]),
        ("video.name", "\ud800"),
    ],
)
def test_inconsistent_saved_run_is_refused(tmp_path, name, value):
    with pytest.raises(ValueError, match="not a run saved"):
        opening.opened(str(write_changed_run(tmp_path, name, value)))


@pytest.mark.usefixtures("unpacked_here")
def test_saved_run_with_a_path_out_of_its_archive_is_refused(tmp_path):
    path = write_changed_run(tmp_path, "answer", "A square.")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../../evil.py", b"print(1)")
    with pytest.raises(ValueError, match="not a run saved"):
        opening.opened(str(path))


@pytest.mark.usefixtures("unpacked_here")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("question", "a " * 450_000),
        ("video.name", "n" * 2_000),
        ("video.notes", ["n" * 2_000]),
        ("made_with", {"device": "x" * 100_000}),
        ("frames", np.zeros((8, 20_000, 1, 3), np.uint8)),
    ],
    ids=["question", "name", "note", "made with", "tall"],
)
def test_saved_run_with_an_overlong_text_or_oversized_frame_is_refused(tmp_path, name, value):
    with pytest.raises(ValueError, match="too large"):
        opening.opened(str(write_changed_run(tmp_path, name, value)))


def test_saved_run_of_too_many_frames_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "MAX_FRAMES", 7)
    with pytest.raises(ValueError, match="too large"):
        opening.opened(str(write_changed_run(tmp_path, "answer", "A square.")))
