from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from components.session.request import Request
from components.session.work.engine import CLIPS_REMEMBERED, Engine
from components.session.work.local import PHOTOS, LocalBackend
from components.session.work.queue import Work
from gleanvid import Uniform
from gleanvid.models.token_model import TokenModel
from gleanvid.types import StoppedError
from tests.components.fake import FakeBackend, moving_square, write_clip


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


class Labels(TokenModel):
    """A fake model that returns one label, whatever the tokens are."""

    device = encode = None

    def labels(self, tokens, record):
        return ["square"]


def test_waiting_for_token_labels_of_a_busy_model_ends_when_the_work_is_stopped():
    engine, video, work = Engine(FakeBackend()), moving_square(8), Work()
    model = Labels(PHOTOS)
    engine.put(PHOTOS, model)
    clip = Request("a", 8, PHOTOS).clip(video)
    encoded = SimpleNamespace(tokens=engine.backend.tokens(video))
    run = engine.compress(clip, encoded, Uniform(0.5), work)
    assert run.made_with["labels"] == ["square"]
    work.end()
    with model.lock, ThreadPoolExecutor(1) as other:
        waiting = other.submit(engine.compress, clip, encoded, Uniform(0.5), work)
        with pytest.raises(StoppedError):
            waiting.result(20)


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
