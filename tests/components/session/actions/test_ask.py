"""Asking, called as plain functions: progress, both sides, every bad input, stop."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest
import torch

from components.session import display
from components.session.actions import preview as sides
from components.session.actions.ask import LIVE_S, Habits, ask, ask_live, is_slow
from components.session.actions.preview import preview
from components.session.examples import Example
from components.session.request import NO_CLIP, NO_QUESTION, Request, Sides
from components.session.work.engine import Engine
from components.session.work.queue import Line
from gleanvid import COMPRESSORS, GleanVID, ModelError
from gleanvid.models.generation.sampling import Sampling
from tests.components.fake import FakeBackend

pytestmark = pytest.mark.usefixtures("cache")


def asked(path, model="builtin", **settings) -> Request:
    return Request(path, 8, model, settings=settings)


ALONE = Habits(both=False)


def begin(engine, request, question="What moves?", habits=ALONE, runs=(), **more):
    engine.pages.start("me")
    return ask(engine, "me", request, Sides(runs, question=question, **more), habits)


def answer(*given, **named):
    return list(begin(*given, **named))


def words(part, side="b"):
    """What the page shows of a side's answer while it is given."""
    return next((item["text"] for item in part.answers or [] if item["side"] == side), None)


def last_of(shown):
    """The last update that has answers."""
    return next(part for part in reversed(shown) if part.answers)


def test_the_tokens_come_first_then_the_growing_answer_then_the_cost(clip):
    shown = answer(Engine(FakeBackend(words=3)), asked(clip))
    texts = [words(part) for part in shown if words(part) is not None]
    assert texts == ["", "word0 ", "word0 word1 ", "word0 word1 word2 "]
    viewers = [index for index, part in enumerate(shown) if part.viewer]
    growing = [index for index, part in enumerate(shown) if words(part) is not None]
    assert len(viewers) == 2 and viewers[0] < growing[0] and growing[-1] < viewers[1]
    given = last_of(shown).answers[0]
    assert given["text"] == "word0 word1 word2" and given["ttft_s"] and not given["running"]
    assert [part.done for part in shown] == [False] * (len(shown) - 1) + [True]


def test_all_tokens_are_asked_too_and_only_once_for_a_question(clip):
    library = FakeBackend(words=2)
    engine = Engine(library)
    both = Habits(both=True)
    shown = answer(engine, asked(clip), habits=both)
    assert any(words(part, "a") for part in shown)
    last = last_of(shown)
    b, a = (engine.runs.get(run_id) for run_id in last.runs)
    assert (a.compressor["name"], b.compressor["name"]) == ("full", "gleanvid")
    assert a.answer == b.answer and [item["run"] for item in last.answers] == last.runs
    assert (last.viewer["a"], last.viewer["b"]) == (1, 0)
    again = answer(engine, asked(clip, tau=2.0), habits=both, runs=last.runs)
    assert not any(words(part, "a") for part in again)
    assert last_of(again).runs[1] == last.runs[1]  # the answer that there is
    other = answer(engine, asked(clip), "And what else?", both, last_of(again).runs)
    assert any(words(part, "a") for part in other)


def test_the_answer_of_b_stays_where_that_of_a_fails(clip):
    class HalfBroken(FakeBackend):
        def stream_answer(self, question, model, stop):
            if question.compressor.name == "full":
                raise ModelError("no room for all tokens")
            return super().stream_answer(question, model, stop)

    last = answer(Engine(HalfBroken(words=2)), asked(clip), habits=Habits(both=True))[-1]
    assert last.done and "no room" in last.notice["text"]
    assert [item["text"] for item in last.answers] == ["word0 word1"]


def test_what_is_pinned_is_asked_in_place_of_all_tokens(clip):
    engine = Engine(FakeBackend(words=2))
    pinned = GleanVID(0.5).settings()
    last = last_of(answer(engine, asked(clip), habits=Habits(both=True), pinned=pinned))
    assert [engine.runs.get(run_id).compressor for run_id in last.runs] == [
        GleanVID().settings(),
        pinned,
    ]


def test_the_verdict_is_given_where_the_answer_is_known(clip, tmp_path):
    example = Example(tmp_path / "clip.mp4", "Clip", "", (("What moves?", "word0 word1"),))
    engine, request = Engine(FakeBackend(words=2)), asked(clip)
    known = replace(request, example=example)
    right = last_of(answer(engine, known)).answers[0]
    assert right["right"] is True and right["expected"] == "word0 word1" and not right["caveat"]
    engine.backend.word = "other"
    assert last_of(answer(engine, known)).answers[0]["right"] is False
    unknown = last_of(answer(engine, request)).answers[0]
    assert unknown["right"] is None and unknown["caveat"] == display.KNOWS_GLIMPSE


def test_the_run_is_kept_and_only_its_id_handed_out(clip):
    engine = Engine(FakeBackend())
    last = last_of(answer(engine, asked(clip)))
    assert engine.runs.get(last.runs[0]).answer == last.answers[0]["text"]


def test_a_model_that_takes_long_is_not_asked_by_itself(clip):
    engine = Engine(FakeBackend())
    assert not is_slow(engine, "builtin") and is_slow(engine, "some/checkpoint")
    answer(engine, asked(clip))
    assert 0 < engine.answer_s["builtin"] < LIVE_S
    engine.answer_s["builtin"] = LIVE_S + 1
    assert is_slow(engine, "builtin")


def test_an_answer_that_was_stopped_does_not_say_how_long_the_model_takes(clip):
    engine = Engine(FakeBackend(pause_s=0.05, words=20))
    for part in begin(engine, asked(clip)):
        if words(part):
            engine.pages.stop("me")
    assert engine.answer_s == {}


def test_asking_live_gives_answers_without_notices_and_ends_with_the_next_move(clip):
    library = FakeBackend(words=1000)
    engine = Engine(library)
    page = Sides(question="What moves?")
    running = ask_live(engine, "me", asked(clip), page, ALONE)
    while not words(part := next(running)):
        assert part.notice is None and not part.done
    list(preview(engine, asked(clip, tau=2.0), page, "me"))
    assert list(running) == [] and library.closed.is_set() and len(engine.line) == 0
    engine.pages.start("me")
    assert list(ask_live(engine, "me", asked(clip), page)) == []  # a question is under way
    engine.pages.stop("me")
    assert list(ask_live(engine, "me", asked(clip), Sides())) == []  # there is no question
    remembering = Habits(both=False, remember=True)
    assert list(ask_live(engine, "me", asked(clip), page, remembering)) == []


def test_an_answer_that_is_stopped_while_asked_live_does_not_stay_running(clip):
    library = FakeBackend(words=1000)
    engine, page = Engine(library), Sides(question="What moves?")
    running = ask_live(engine, "me", asked(clip), page, ALONE)
    while not words(next(running)):
        pass
    engine.pages.stop("me")
    rest = list(running)
    assert rest and not any(item["running"] for item in rest[-1].answers)


@pytest.mark.parametrize(
    ("sampling", "name"), [({"temperature": 9}, "temperature"), ({"seed": None}, "seed")]
)
def test_numbers_out_of_range_are_named(clip, sampling, name):
    request = Request(clip, 8, "builtin", sampling=sampling)
    last = answer(Engine(FakeBackend()), request)[-1]
    assert last.notice["kind"] == "problem" and name in last.notice["text"]


def test_a_new_setting_reads_and_encodes_nothing_again(clip):
    library = FakeBackend()
    engine = Engine(library)
    masks = {
        list(preview(engine, asked(clip, retention_ratio=ratio), Sides()))[-1].viewer["data"][
            "path"
        ]
        for ratio in (0.1, 0.3, 0.5)
    }
    assert len(masks) == 3
    assert (library.reads, library.encodes, library.loads) == (1, 1, 1)


def test_what_was_used_is_said(clip):
    last = list(preview(Engine(FakeBackend()), asked(clip), Sides()))[-1]
    assert last.notice["text"] == "Used 8 of 8 frames from 2.0 s."
    assert ("Queue", "nobody waits") in last.status


def broken(tmp_path):
    path = tmp_path / "notes.mp4"
    path.write_text("not a film")
    return str(path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda tmp_path, clip: (asked(None), "What?"), NO_CLIP),
        (lambda tmp_path, clip: (asked(clip), "  \n"), NO_QUESTION),
        (lambda tmp_path, clip: (asked(clip), "x" * 10_001), "10,000 characters"),
        (lambda tmp_path, clip: (asked(broken(tmp_path)), "What?"), "not a video that can be read"),
        (lambda tmp_path, clip: (asked(clip, model="other"), "What?"), "Download it first"),
        (lambda tmp_path, clip: (asked(clip, alpha_min=0.9), "What?"), "alpha_min"),
    ],
)
def test_bad_input_ends_with_a_sentence_and_the_next_question_works(
    tmp_path, clip, change, sentence
):
    engine = Engine(FakeBackend())
    request, question = change(tmp_path, clip)
    last = answer(engine, request, question)[-1]
    assert sentence in last.notice["text"] and last.notice["kind"] == "problem" and last.done
    assert last_of(answer(engine, asked(clip))).answers[0]["text"]


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), display.OUT_OF_MEMORY),
        (MemoryError(), display.OUT_OF_MEMORY),
        (ModelError("The model is gone."), "The model is gone."),
        (RuntimeError("/home/me/secret.py line 3"), display.UNEXPECTED),
    ],
)
def test_a_failure_while_answering_is_told_without_inner_details(clip, failure, sentence):
    last = answer(Engine(FakeBackend(failure=failure)), asked(clip))[-1]
    assert last.notice["text"] == sentence and last.done


def test_stop_ends_the_answer_at_the_next_word_and_keeps_what_there_is(clip):
    library = FakeBackend(words=1000)
    engine = Engine(library)
    shown = []
    for part in begin(engine, asked(clip), habits=Habits()):
        shown.append(part)
        if "word3" in (words(part) or ""):
            engine.pages.stop("me")
    assert shown[-1].notice["text"] == "Stopped."
    assert last_of(shown).answers[0]["text"].split()[-1] in ("word3", "word4")
    assert library.closed.is_set()
    assert not any(words(part, "a") for part in shown)  # nor is A asked after that


def test_leaving_in_the_middle_frees_the_model(clip):
    library = FakeBackend(words=1000)
    engine = Engine(library)
    running = begin(engine, asked(clip))
    while "word2" not in (words(next(running)) or ""):
        pass
    running.close()
    assert library.closed.is_set()
    assert engine.pages.start("me")


def test_a_question_stopped_while_it_waited_is_not_answered(clip):
    engine = Engine(FakeBackend(words=1000))
    waiting = begin(engine, asked(clip))
    engine.pages.stop("me")
    assert len(list(waiting)) < 10


def test_stop_while_the_clip_is_encoded_leaves_the_model_and_keeps_the_answers(clip):
    library = FakeBackend()
    engine = Engine(library)
    first = last_of(answer(engine, asked(clip)))
    library.encode_s = 60
    request = Request(clip, 6, "builtin")
    running = begin(engine, request, runs=first.runs)
    while not next(running).notice["text"].startswith("Encoding"):
        pass
    threading.Timer(0.05, engine.pages.stop, ["me"]).start()
    started = time.perf_counter()
    last = list(running)[-1]
    assert time.perf_counter() - started < 0.5
    assert last.notice["text"] == "Stopped." and last.answers == first.answers and last.done
    assert len(engine.line) == 0


def test_only_a_page_that_remembers_hands_earlier_answers_to_the_model(clip):
    library = FakeBackend(words=1)
    engine = Engine(library)
    earlier = [{"question": "First?", "answer": "Red."}, {"question": "Second?", "answer": ""}]

    def exchanges(remember):
        engine.pages.start("me")
        page = Sides(question="And?")
        shown = list(ask(engine, "me", asked(clip), page, Habits(False, remember), earlier))
        return next((part.exchanges for part in shown if part.exchanges), None)

    assert exchanges(True) == [*earlier, {"question": "And?", "answer": "word0"}]
    assert library.asked.history == [("First?", "Red.")]
    assert exchanges(False) is None and not library.asked.history


def test_sampling_and_the_pixel_budget_reach_the_model(clip):
    library = FakeBackend()
    request = replace(asked(clip), pixels=100, sampling={"temperature": 0.5, "seed": 3})
    answer(Engine(library), request)
    assert library.asked.clip.max_pixels == 800
    assert library.asked.sampling == Sampling(temperature=0.5, seed=3)


def test_a_question_past_its_deadline_ends_with_a_message_and_what_was_said(clip):
    engine = Engine(FakeBackend(words=1000, pause_s=0.02), line=Line(deadline_s=2.0))
    list(preview(engine, asked(clip), Sides()))  # what is slow is done before the clock runs
    shown = answer(engine, Request(clip, 8, "builtin", "uniform"))
    assert "longer than 2" in shown[-1].notice["text"]
    assert last_of(shown).answers[0]["text"].startswith("word0") and len(engine.line) == 0


def test_new_settings_take_no_turn_behind_another_s_long_answer(clip):
    engine = Engine(FakeBackend(words=1000))
    engine.pages.start("you")
    theirs = ask(engine, "you", asked(clip), Sides(question="Tell me everything"), ALONE)
    while not words(next(theirs)):
        pass
    shown = list(preview(engine, asked(clip, retention_ratio=0.5), Sides()))
    assert shown[-1].viewer and len(shown) == 1
    theirs.close()


def test_one_page_asks_one_thing_at_a_time_and_pages_do_not_meet():
    engine = Engine(FakeBackend())
    assert engine.pages.start("me") and not engine.pages.start("me") and engine.pages.start("you")
    engine.pages.stop("me")
    assert engine.pages.start("me") and not engine.pages.start("you")


class Late(GleanVID):
    """A method that acts inside the language model."""

    @property
    def stages(self):
        return ((2, self),)


def test_a_method_that_decides_late_shows_its_tokens_with_the_answer(clip, monkeypatch):
    monkeypatch.setitem(COMPRESSORS, "late", Late)
    library = FakeBackend()
    engine, request = Engine(library), Request(clip, 8, "builtin", "late")
    assert list(preview(engine, request, Sides()))[-1].notice["text"] == sides.DECIDES_LATE
    assert library.encodes == 0
    shown = answer(engine, request)
    assert [bool(part.viewer) for part in shown].count(True) == 1
    assert engine.runs.get(last_of(shown).runs[0]).by_layer.keys() == {0}
