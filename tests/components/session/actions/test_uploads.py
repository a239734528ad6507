"""A clip that is brought: read first, and given up where another one is chosen meanwhile."""

from __future__ import annotations

import threading

import pytest

from components.session.actions import uploads
from components.session.request import NO_CLIP
from components.session.work.engine import Engine
from gleanvid.types import StoppedError, VideoError
from tests.components.fake import FakeBackend, write_clip
from tests.server.test_reading import Slow


def test_what_was_read_is_not_read_again(tmp_path):
    write_clip(tmp_path / "clip.mp4")
    engine = Engine(FakeBackend())
    uploads.read(engine, str(tmp_path / "clip.mp4"), 8, "me")
    assert engine.has_clip(str(tmp_path / "clip.mp4"), 8)


def test_what_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("no clip")
    with pytest.raises(VideoError, match="notes"):
        uploads.read(Engine(FakeBackend()), str(tmp_path / "notes.txt"), 8, "me")
    with pytest.raises(ValueError, match=NO_CLIP):
        uploads.read(Engine(FakeBackend()), None, 8, "me")


@pytest.mark.parametrize(
    "then",
    [
        lambda pages: pages.begin_upload("me"),
        lambda pages: pages.end_upload("me"),
        lambda pages: pages.stop("me"),  # the page is left
    ],
)
def test_another_clip_or_a_page_left_ends_the_reading(then):
    engine, ended = Engine(Slow()), threading.Event()

    def read():
        with pytest.raises(StoppedError):
            uploads.read(engine, "a.mp4", 8, "me")
        ended.set()

    threading.Thread(target=read).start()
    assert engine.backend.begun.acquire(timeout=20)
    engine.pages.begin_preview("me")  # a slider is moved: the clip is still wanted
    assert not engine.backend.limits["stop"].is_set()
    then(engine.pages)
    assert ended.wait(20)
