"""A clip whose saved result is shown is encoded before the visitor changes a setting."""

from __future__ import annotations

import pytest

from components.session.actions.ahead import encode_ahead
from components.session.work.engine import Engine
from components.session.work.queue import Work
from gleanvid.models.encoded import ClipKey
from tests.components.fake import FakeBackend, moving_square


@pytest.fixture
def engine():
    engine = Engine(FakeBackend())
    engine.model("builtin")
    return engine


def test_clip_encoded_ahead_is_encoded_once_and_leaves_the_queue_empty(engine):
    clip = ClipKey(moving_square(), "builtin")
    encode_ahead(engine, clip).join(10)
    assert engine.backend.encodes == 1 and len(engine.queue) == 0
    assert encode_ahead(engine, clip) is None


def test_encoding_ahead_with_a_model_that_cannot_be_loaded_leaves_the_queue_empty(engine):
    encode_ahead(engine, ClipKey(moving_square(), "missing")).join(10)
    assert engine.backend.encodes == 0 and len(engine.queue) == 0


def test_clip_is_not_encoded_ahead_if_the_model_is_busy_or_gpu_time_is_metered(engine, monkeypatch):
    clip, work = ClipKey(moving_square(), "builtin"), Work()
    list(engine.queue.wait(work))
    assert encode_ahead(engine, clip) is None
    engine.queue.leave(work)
    monkeypatch.setattr(engine.backend, "is_metered", True)
    assert encode_ahead(engine, clip) is None and engine.backend.encodes == 0
