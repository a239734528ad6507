"""On ZeroGPU, model calls run in another process: only pickled values are exchanged."""

from __future__ import annotations

import pickle
import sys
from inspect import isgeneratorfunction
from threading import Event
from types import SimpleNamespace

import pytest

from components.server import zero
from components.session.actions.ask import Habits, ask
from components.session.actions.preview import preview
from components.session.request import Request, Sides
from components.session.work.backend import Question
from components.session.work.engine import Engine
from gleanvid import GleanVID
from gleanvid.models.encoded import ClipKey
from gleanvid.models.generation.sampling import GREEDY
from tests.components.fake import FakeBackend, moving_square, write_clip


def copied(value):
    return pickle.loads(pickle.dumps(value))


class Spaces(SimpleNamespace):
    """A stand-in for ``spaces``: arguments and results are pickled, as between processes."""

    def __init__(self):
        super().__init__(durations=[], calls=[])

    def GPU(self, duration):  # noqa: N802
        self.durations.append(duration)

        def decorate(work):
            def single(*given):
                self.calls.append(work.__name__)
                return copied(work(*copied(given)))

            def pieces(*given):
                self.calls.append(work.__name__)
                yield from map(copied, work(*copied(given)))

            return pieces if isgeneratorfunction(work) else single

        return decorate


@pytest.fixture
def spaces(monkeypatch, tmp_path):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "cache"))
    stand_in = Spaces()
    monkeypatch.setattr(zero, "find_spec", lambda name: object())
    monkeypatch.setitem(sys.modules, "spaces", stand_in)
    return stand_in


@pytest.fixture
def request_(tmp_path):
    write_clip(tmp_path / "clip.mp4")
    return Request(str(tmp_path / "clip.mp4"), 8, "builtin")


def test_without_the_package_the_library_is_used_as_it_is(monkeypatch):
    monkeypatch.setattr(zero, "find_spec", lambda name: None)
    library = FakeBackend()
    assert zero.on_zero_gpu(library) is library


def test_previews_and_answers_are_pickled_and_the_clip_is_encoded_once(spaces, request_):
    library = FakeBackend(words=3)
    engine = Engine(zero.on_zero_gpu(library, 30))
    assert spaces.durations == [30]
    assert list(preview(engine, request_, Sides()))[-1].viewer
    assert list(preview(engine, request_, Sides()))[-1].viewer
    assert spaces.calls == ["_remote_encode"]
    engine.pages.start("me")
    shown = list(ask(engine, "me", request_, Sides(question="What moves?"), Habits(both=False)))
    last = [part for part in shown if part.runs][-1]
    assert last.answers[0]["text"] == "word0 word1 word2" and shown[-1].done
    assert spaces.calls == ["_remote_encode", "_remote_stream"]
    assert engine.runs.get(last.runs[0]).video is engine.clip(request_.path, 8)


def test_stop_is_noticed_between_two_words_and_the_worker_let_go(spaces, request_):
    library = FakeBackend(words=1000)
    engine = Engine(zero.on_zero_gpu(library))
    engine.pages.start("me")
    for part in ask(engine, "me", request_, Sides(question="What moves?")):
        if "word3" in str(part.answers):
            engine.pages.stop("me")
    assert part.notice["text"] == "Stopped." and part.done
    assert library.closed.is_set() and len(engine.queue) == 0


def test_scores_of_an_answer_come_from_there_too(spaces):
    backend = zero.on_zero_gpu(FakeBackend())
    model = backend.load_model("builtin")
    question = Question(ClipKey(moving_square(), model.name), "Q?", GleanVID(0.5), GREEDY)
    assert backend.score(question, "a", model, Event()) == -1.0
    assert spaces.calls == ["_remote_score"]
