from dataclasses import replace
from pathlib import Path

import pytest
import torch

from components.jobs import display
from components.jobs.engine import Engine
from components.jobs.examples import Example
from components.jobs.local import PHOTOS
from components.jobs.queue import ModelQueue, Work
from components.jobs.request import NO_CLIP, NO_QUESTION, Request, Sides
from components.tokens.answers import KNOWS_GLIMPSE
from components.tokens.ask import ask
from components.tokens.measure import measure
from components.tokens.preview import DECIDES_LATE, preview
from gleanvid import COMPRESSORS, GleanVID, ModelError, errors
from tests.components.fake import FakeBackend

pytestmark = pytest.mark.usefixtures("cache")

ALONE, BOTH = False, True
MOVES = Sides(question="What moves?")


def request_of(path, model="builtin", **settings) -> Request:
    return Request(path, 8, model, settings=settings)


def begin(engine, request, sides=MOVES, both=ALONE, session="me"):
    engine.pages.start(session)
    return ask(engine, session, request, sides, both)


def updates_of(*arguments, **options):
    return list(begin(*arguments, **options))


def text_of(update, side="b"):
    return next((item["text"] for item in update.answers or [] if item["side"] == side), None)


def last_of(updates):
    return next(update for update in reversed(updates) if update.answers)


def test_ask_shows_tokens_first_then_the_growing_answer_then_the_cost(clip):
    engine = Engine(FakeBackend(words=3))
    updates = updates_of(engine, request_of(clip))
    texts = [text_of(update) for update in updates if text_of(update) is not None]
    assert texts == ["", "word0 ", "word0 word1 ", "word0 word1 word2 "]
    viewers = [index for index, update in enumerate(updates) if update.viewer]
    growing = [index for index, update in enumerate(updates) if text_of(update) is not None]
    assert len(viewers) == 2 and viewers[0] < growing[0] and growing[-1] < viewers[1]
    (answer,) = last_of(updates).answers
    assert answer["text"] == "word0 word1 word2" and answer["ttft_s"] and not answer["running"]
    assert engine.runs.get(last_of(updates).runs[0]).answer == answer["text"]
    assert [update.done for update in updates] == [False] * (len(updates) - 1) + [True]


def test_each_question_is_asked_with_all_tokens_only_once(clip):
    engine = Engine(FakeBackend(words=2))
    updates = updates_of(engine, request_of(clip), both=BOTH)
    assert any(text_of(update, "a") for update in updates)
    last = last_of(updates)
    b, a = (engine.runs.get(run_id) for run_id in last.runs)
    assert (a.compressor["name"], b.compressor["name"]) == ("full", "gleanvid")
    assert a.answer == b.answer and [item["run"] for item in last.answers] == last.runs
    assert (last.viewer["a"], last.viewer["b"]) == (1, 0)
    again = updates_of(engine, request_of(clip, tau=2.0), replace(MOVES, runs=last.runs), BOTH)
    assert not any(text_of(update, "a") for update in again)
    assert last_of(again).runs[1] == last.runs[1]
    sides = Sides(last_of(again).runs, question="And what else?")
    other = updates_of(engine, request_of(clip), sides, BOTH)
    assert any(text_of(update, "a") for update in other)


def test_answer_of_side_b_stays_if_side_a_fails(clip):
    class HalfBroken(FakeBackend):
        def stream_answer(self, question, model, stop):
            if question.compressor.name == "full":
                raise ModelError("no room for all tokens")
            return super().stream_answer(question, model, stop)

    last = updates_of(Engine(HalfBroken(words=2)), request_of(clip), both=BOTH)[-1]
    assert last.done and "no room" in last.notice["text"]
    assert [item["text"] for item in last.answers] == ["word0 word1"]


def test_answer_is_judged_if_the_right_answer_is_known(clip, tmp_path):
    example = Example(tmp_path / "clip.mp4", "Clip", "", (("What moves?", "word0 word1"),))
    engine, unknown = Engine(FakeBackend(words=2)), request_of(clip)
    known = replace(unknown, example=example)
    right = last_of(updates_of(engine, known)).answers[0]
    assert right["right"] is True and right["expected"] == "word0 word1" and not right["caveat"]
    engine.backend.word = "other"
    assert last_of(updates_of(engine, known)).answers[0]["right"] is False
    unjudged = last_of(updates_of(engine, unknown)).answers[0]
    assert unjudged["right"] is None and unjudged["caveat"] == KNOWS_GLIMPSE


@pytest.mark.parametrize(
    ("question", "problem"),
    [("What moves?", ""), ("Where is the star?", ""), ("asdf", "“asdf”"), ("What color?", "Not")],
)
def test_built_in_model_is_asked_only_what_it_knows_about_a_glimpse_clip(clip, question, problem):
    engine, known = Engine(FakeBackend()), (("What moves?", "a square"),)
    Path(clip).with_suffix(".json").write_text("{}")  # the clip's scene: it is a Glimpse clip
    request = replace(request_of(clip), example=Example(Path(clip), "Clip", "", known))
    last = updates_of(engine, request, Sides(question=question))[-1]
    assert (problem in last.notice["text"]) and (last.notice["kind"] == "problem") is bool(problem)
    assert bool(engine.backend.asked) is not bool(problem)
    assert not replace(request, model="other").missing(question)


def broken(tmp_path):
    path = tmp_path / "notes.mp4"
    path.write_text("not a film")
    return str(path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda folder, clip: (request_of(None), "What?"), NO_CLIP),
        (lambda folder, clip: (request_of(clip), "  \n"), NO_QUESTION),
        (lambda folder, clip: (request_of(clip), "x" * 10_001), "10,000 characters"),
        (lambda folder, clip: (request_of(broken(folder)), "What?"), "not a video that can be"),
        (lambda folder, clip: (request_of(clip, model="other"), "What?"), "Download it first"),
        (lambda folder, clip: (request_of(clip, alpha_min=0.9), "What?"), "alpha_min"),
        (lambda folder, clip: (sampled(clip, seed=None), "What?"), "seed"),
    ],
)
def test_invalid_input_ends_with_a_message_and_the_next_question_works(
    tmp_path, clip, change, sentence
):
    engine = Engine(FakeBackend())
    request, question = change(tmp_path, clip)
    last = updates_of(engine, request, Sides(question=question))[-1]
    assert sentence in last.notice["text"] and last.notice["kind"] == "problem" and last.done
    assert last_of(updates_of(engine, request_of(clip))).answers[0]["text"]


def sampled(clip, **sampling):
    return replace(request_of(clip), sampling=sampling)


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), errors.OUT_OF_MEMORY),
        (MemoryError(), errors.OUT_OF_MEMORY),
        (ModelError("The model is gone."), "The model is gone."),
        (RuntimeError("/home/me/secret.py line 3"), display.UNEXPECTED),
    ],
)
def test_failure_of_ask_is_reported_without_internal_details(clip, failure, sentence):
    last = updates_of(Engine(FakeBackend(failure=failure)), request_of(clip))[-1]
    assert last.notice["text"] == sentence and last.done


def test_stop_ends_the_answer_at_the_next_word_and_keeps_the_words_so_far(clip):
    backend = FakeBackend(words=1000)
    engine, updates = Engine(backend), []
    for update in begin(engine, request_of(clip), both=BOTH):
        updates.append(update)
        if "word3" in (text_of(update) or ""):
            engine.pages.stop("me")
    assert updates[-1].notice["text"] == "Stopped."
    assert last_of(updates).answers[0]["text"].split()[-1] in ("word3", "word4")
    # The time of a stopped answer is not stored.
    assert backend.closed.is_set() and engine.answer_s == {}
    assert not any(text_of(update, "a") for update in updates)


@pytest.mark.parametrize("trouble", ["stop", "error", "full"])
def test_previous_answer_stays_if_a_new_answer_fails(clip, trouble):
    backend = FakeBackend()
    engine = Engine(backend, queue=ModelQueue(places=0))
    first, other = last_of(updates_of(engine, request_of(clip))), Work()
    sides = replace(MOVES, runs=first.runs)
    if trouble == "full":
        list(engine.queue.wait(other))
    if trouble == "error":
        backend.failure = ModelError("The model is gone.")
    for update in begin(engine, request_of(clip), sides):
        if trouble == "stop" and update.notice and "Encoding" in update.notice["text"]:
            engine.pages.stop("me")
    assert update.done and update.answers == first.answers
    engine.queue.leave(other)
    backend.failure = None
    assert last_of(updates_of(engine, request_of(clip), sides)).runs[0] != first.runs[0]


def test_page_closed_during_an_answer_frees_the_model(clip):
    backend = FakeBackend(words=1000)
    engine = Engine(backend)
    running = begin(engine, request_of(clip))
    while "word2" not in (text_of(next(running)) or ""):
        pass
    running.close()
    assert backend.closed.is_set() and engine.pages.start("me")


def test_question_ends_its_page_s_running_preview_but_no_later_preview(clip):
    engine = Engine(FakeBackend())
    before = engine.pages.begin_preview("me")
    running = begin(engine, request_of(clip))
    next(running)
    assert before.stop.is_set()
    later = engine.pages.begin_preview("me")
    list(running)
    assert not later.stop.is_set()
    assert engine.pages.stop("me") == [later] and later.stop.is_set()


def test_preview_older_than_a_question_does_not_start_after_it(clip):
    """A late preview would replace the answers with runs that have no answer."""
    engine = Engine(FakeBackend())
    running = begin(engine, request_of(clip), replace(MOVES, version=3))
    next(running)
    assert list(preview(engine, request_of(clip), Sides(version=2), "me")) == []
    assert any(update.runs for update in running)
    assert list(preview(engine, request_of(clip), Sides(version=4), "me"))


class InsideModel(GleanVID):
    @property
    def stages(self):
        return ((2, self),)


def test_tokens_kept_inside_the_model_are_shown_only_with_the_answer(clip, monkeypatch):
    monkeypatch.setitem(COMPRESSORS, "late", InsideModel)
    backend = FakeBackend()
    engine, request = Engine(backend), Request(clip, 8, "builtin", "late")
    assert list(preview(engine, request, Sides()))[-1].notice["text"] == DECIDES_LATE
    assert backend.encodes == 0
    updates = updates_of(engine, request)
    assert [bool(update.viewer) for update in updates].count(True) == 1
    assert engine.runs.get(last_of(updates).runs[0]).by_layer.keys() == {0}


@pytest.mark.parametrize("act", [ask, measure])
def test_question_that_cannot_be_asked_does_not_end_the_preview(clip, act):
    engine = Engine(FakeBackend())
    work = engine.pages.begin_preview("me", 1)
    (update,) = act(engine, "me", request_of(clip, PHOTOS), replace(MOVES, version=2))
    assert "answers no questions" in update.notice["text"] and not work.stop.is_set()
