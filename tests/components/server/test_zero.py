"""On ZeroGPU, every model call runs in a forked process, which Stop ends.

Arguments and results of the call are pickled.
"""

import multiprocessing
import pickle
import sys
import time
from inspect import isgeneratorfunction
from threading import Event, Thread
from types import SimpleNamespace

import pytest
import torch

from components.jobs.backend import Question
from components.jobs.engine import Engine
from components.jobs.request import Request, Sides
from components.server import zero
from components.tokens.ask import ask
from components.tokens.preview import preview
from gleanvid import GleanVID
from gleanvid.models.encoded import ClipKey
from gleanvid.models.generation.sampling import GREEDY
from gleanvid.types import ModelError
from tests.components.fake import FakeBackend, moving_square, write_clip

FORK = multiprocessing.get_context("fork")


class Spaces(SimpleNamespace):
    """A fake of the package ``spaces``: every call runs in a forked process, as on ZeroGPU.

    Arguments and results are pickled. If the function raises, only the name of the exception is
    passed on. Closing a call waits until its process has ended.
    """

    def __init__(self):
        super().__init__(durations=[], calls=[], exit_codes=[])

    def GPU(self, duration):  # noqa: N802
        self.durations.append(duration)

        def decorate(work):
            assert isgeneratorfunction(work)  # this fake only runs generators

            def call(*given):
                self.calls.append(given[0])
                results, end = FORK.Pipe(duplex=False)
                process = FORK.Process(target=_work, args=(work, pickle.dumps(given), end))
                process.start()
                end.close()
                try:
                    while (kind_and_value := pickle.loads(results.recv_bytes()))[0] == "piece":
                        yield kind_and_value[1]
                    if kind_and_value[0] == "failed":
                        raise RuntimeError(f"ZeroGPU worker error: {kind_and_value[1]}")
                finally:
                    process.join(60)
                    self.exit_codes.append(process.exitcode)

            return call

        return decorate


def _work(work, given, end):
    # A forked process has a single thread; torch would wait for threads that do not exist there.
    torch.set_num_threads(1)
    try:
        for piece in work(*pickle.loads(given)):
            end.send_bytes(pickle.dumps(("piece", piece)))
        end.send_bytes(pickle.dumps(("over", None)))
    except Exception as error:
        end.send_bytes(pickle.dumps(("failed", type(error).__name__)))


@pytest.fixture
def spaces(monkeypatch, cache):
    stand_in = Spaces()
    monkeypatch.setattr(zero, "find_spec", lambda name: object())
    monkeypatch.setitem(sys.modules, "spaces", stand_in)
    return stand_in


@pytest.fixture
def request_(tmp_path):
    write_clip(tmp_path / "clip.mp4")
    return Request(str(tmp_path / "clip.mp4"), 8, "builtin")


def test_on_zero_gpu_returns_its_argument_if_the_spaces_package_is_missing(monkeypatch):
    monkeypatch.setattr(zero, "find_spec", lambda name: None)
    library = FakeBackend()
    assert zero.on_zero_gpu(library) is library


def test_clip_is_encoded_once_for_two_previews_and_an_answer(spaces, request_):
    engine = Engine(zero.on_zero_gpu(FakeBackend(words=3), 30))
    assert spaces.durations == [30]
    assert list(preview(engine, request_, Sides()))[-1].viewer
    assert list(preview(engine, request_, Sides()))[-1].viewer
    assert spaces.calls == ["encode"]
    engine.pages.start("me")
    shown = list(ask(engine, "me", request_, Sides(question="What moves?"), both=False))
    last = [part for part in shown if part.runs][-1]
    assert last.answers[0]["text"] == "word0 word1 word2" and shown[-1].done
    assert spaces.calls == ["encode", "stream_answer"]
    assert engine.runs.get(last.runs[0]).video is engine.clip(request_.path, 8)


def test_stop_during_an_answer_ends_the_forked_process(spaces, request_):
    engine = Engine(zero.on_zero_gpu(FakeBackend(pause_s=0.01, words=100_000)))
    engine.pages.start("me")
    for part in ask(engine, "me", request_, Sides(question="What moves?")):
        if "word3" in str(part.answers) and not engine.pages.work("me").stop.is_set():
            engine.pages.stop("me")
    assert part.notice["text"] == "Stopped." and part.done
    assert spaces.exit_codes == [0, 0] and len(engine.queue) == 0


def test_stop_before_the_first_word_ends_the_forked_process(spaces, request_):
    engine = Engine(zero.on_zero_gpu(FakeBackend()))
    engine.backend.inner.encode_s = 30.0
    engine.pages.start("me")

    def stop():
        while not spaces.calls:
            time.sleep(0.01)
        engine.pages.stop("me")

    Thread(target=stop, daemon=True).start()
    *_, last = ask(engine, "me", request_, Sides(question="What moves?"))
    assert last.notice["text"] == "Stopped." and last.done and spaces.exit_codes == [0]
    video = engine.clip(request_.path, 8)
    assert engine.encoded(request_.clip(video)) is None  # encoding was stopped before its end


def test_error_messages_of_the_forked_process_reach_the_page_unchanged(spaces):
    library = FakeBackend()
    library.refusal = "No gradient reaches the tokens."
    backend = zero.on_zero_gpu(library)
    model = backend.load_model("builtin")
    with pytest.raises(ModelError, match="No gradient reaches the tokens"):
        backend.relevance(ClipKey(moving_square(), model.name), "Q?", "A.", model, Event())
    library.failure = KeyError("a bug")
    question = Question(ClipKey(moving_square(), model.name), "Q?", GleanVID(0.5), GREEDY)
    with pytest.raises(RuntimeError, match="KeyError"):
        list(backend.stream_answer(question, model, Event()))
