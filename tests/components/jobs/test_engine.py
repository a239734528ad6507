import os

import pytest

from components.jobs.engine import CLIPS_REMEMBERED, Engine
from components.jobs.local import LocalBackend
from components.jobs.request import Request
from tests.components.fake import FakeBackend, write_clip


def test_clip_is_decoded_once_until_its_file_changes(tmp_path):
    library = FakeBackend()
    engine, path = Engine(library), tmp_path / "a.mp4"
    write_clip(path)
    assert engine.clip(str(path), 8) is engine.clip(str(path), 8)
    assert engine.clip(str(path), 4) is not engine.clip(str(path), 8)
    os.utime(path, (1, 1))
    engine.clip(str(path), 8)
    assert library.reads == 3


def test_oldest_clip_is_evicted_from_the_cache(tmp_path):
    library = FakeBackend()
    engine, path = Engine(library), tmp_path / "a.mp4"
    write_clip(path)
    for frames in range(2, 4 + CLIPS_REMEMBERED):
        engine.clip(str(path), frames)
    reads = library.reads
    engine.clip(str(path), 2)
    assert library.reads == reads + 1


def test_time_span_of_a_clip_is_cached_as_its_own_clip_and_invalid_spans_are_refused(tmp_path):
    write_clip(tmp_path / "a.mp4")
    engine, path = Engine(LocalBackend({})), str(tmp_path / "a.mp4")
    whole, part = Request(path, 8, "builtin"), Request(path, 8, "builtin", start="0:00.5", end="1")
    videos = [engine.clip(path, request.sampled) for request in (whole, part, part)]
    assert videos[1] is videos[2] is not videos[0]
    assert videos[1].timestamps[0] >= 0.5 and videos[1].timestamps[-1] <= 1
    for times in (("2", "1"), ("soon", ""), ("1:2:3:4", "")):
        with pytest.raises(ValueError, match=r"such as 75|start < end"):
            Request(path, 8, "builtin", start=times[0], end=times[1]).check()
