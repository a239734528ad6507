"""Runs and clips are kept within bounds; one model is loaded at a time."""

from __future__ import annotations

import os

import pytest

from components.engine import CLIPS_REMEMBERED, Engine, RunStore
from gleanvid import GleanVID
from tests.components.fake import Library, a_run, moving_square, write_clip


def make_run(frames: int = 32):
    video, library = moving_square(frames), Library()
    method = GleanVID()
    tokens = library.encode(video, library.load_model("builtin"))[0].tokens
    return a_run(video, method.compress(tokens), method)


def test_the_oldest_run_goes_first_and_the_newest_always_stays():
    runs = RunStore(limit_mib=2.5)  # one run of 32 frames is a little below 1 MiB
    ids = [runs.add(make_run()) for _ in range(4)]
    assert runs.get(ids[0]) is None and runs.get(ids[-1]) is not None
    assert len(runs) == 2
    tiny = RunStore(limit_mib=0)
    assert tiny.get(tiny.add(make_run())) is not None


def test_looking_at_a_run_keeps_it():
    runs = RunStore(limit_mib=2.5)
    first, second = runs.add(make_run()), runs.add(make_run())
    runs.get(first)
    runs.add(make_run())
    assert runs.get(first) is not None and runs.get(second) is None


def test_unknown_ids_are_no_runs():
    assert RunStore().get("../../etc/passwd") is None
    assert RunStore().get(None) is None


def test_a_clip_is_read_once_until_it_changes(tmp_path):
    library = Library()
    engine, path = Engine(library), tmp_path / "a.mp4"
    write_clip(path)
    assert engine.clip(str(path), 8) is engine.clip(str(path), 8)
    assert engine.clip(str(path), 4) is not engine.clip(str(path), 8)
    os.utime(path, (1, 1))
    engine.clip(str(path), 8)
    assert library.reads == 3


def test_few_clips_are_remembered(tmp_path):
    library = Library()
    engine, path = Engine(library), tmp_path / "a.mp4"
    write_clip(path)
    for frames in range(2, 4 + CLIPS_REMEMBERED):
        engine.clip(str(path), frames)
    reads = library.reads
    engine.clip(str(path), 2)
    assert library.reads == reads + 1


def test_a_second_model_takes_the_place_of_the_first():
    library = Library()
    engine = Engine(library)
    first = engine.model("builtin")
    assert engine.model("builtin") is first and library.loads == 1
    with pytest.raises(RuntimeError):
        engine.model("other")
    assert engine.model("builtin") is not first
