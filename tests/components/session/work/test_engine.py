"""Clips are kept within bounds; one model is loaded at a time."""

from __future__ import annotations

import os

from components.session.work.engine import CLIPS_REMEMBERED, Engine
from tests.components.fake import FakeBackend, write_clip


def test_a_clip_is_read_once_until_it_changes(tmp_path):
    library = FakeBackend()
    engine, path = Engine(library), tmp_path / "a.mp4"
    write_clip(path)
    assert engine.clip(str(path), 8) is engine.clip(str(path), 8)
    assert engine.clip(str(path), 4) is not engine.clip(str(path), 8)
    os.utime(path, (1, 1))
    engine.clip(str(path), 8)
    assert library.reads == 3


def test_few_clips_are_remembered(tmp_path):
    library = FakeBackend()
    engine, path = Engine(library), tmp_path / "a.mp4"
    write_clip(path)
    for frames in range(2, 4 + CLIPS_REMEMBERED):
        engine.clip(str(path), frames)
    reads = library.reads
    engine.clip(str(path), 2)
    assert library.reads == reads + 1
