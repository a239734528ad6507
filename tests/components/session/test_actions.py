"""What the page does, called as plain functions: progress, results, every bad input, stop."""

from __future__ import annotations

import threading
import time

import pytest
import torch

from components.session import actions
from components.session.actions import ask, preview
from components.session.display import exchange
from components.session.engine import Engine
from components.session.line import Line
from components.session.request import NO_CLIP, NO_QUESTION, Request
from gleanvid import COMPRESSORS, GleanVID, ModelError
from gleanvid.models.generation.sampling import Sampling
from tests.components.fake import Library

pytestmark = pytest.mark.usefixtures("cache")


def asked(path, model="builtin", **settings) -> Request:
    return Request(path, 8, model, lambda: GleanVID(**settings))


def answer(engine, request, question="What moves?", turns=(), session="me"):
    engine.start(session)
    return list(ask(engine, session, request, question, list(turns)))


def test_the_tokens_come_first_then_the_growing_answer_then_the_cost(clip):
    shown = answer(Engine(Library(words=3)), asked(clip))
    viewers = [index for index, part in enumerate(shown) if part.viewer]
    answers = [part.exchanges[-1]["answer"] for part in shown if part.exchanges]
    assert viewers[0] < len(shown) - 1 == viewers[-1]
    assert answers == ["", "word0 ", "word0 word1 ", "word0 word1 word2 ", "word0 word1 word2"]
    last = shown[-1].exchanges[-1]
    assert not last["running"] and len(last["cost"]) == 6
    assert [part.done for part in shown] == [False] * (len(shown) - 1) + [True]


def test_earlier_answers_stay(clip):
    engine = Engine(Library())
    turns = answer(engine, asked(clip), "First?")[-1].exchanges
    turns = answer(engine, asked(clip), "Second?", turns)[-1].exchanges
    assert [turn["question"] for turn in turns] == ["First?", "Second?"]


def test_the_run_is_kept_and_only_its_id_handed_out(clip):
    engine = Engine(Library())
    shown = answer(engine, asked(clip))[-1]
    assert engine.runs.get(shown.runs[0]).answer == shown.exchanges[-1]["answer"]


def test_what_was_on_show_stays_beside_where_it_is_of_the_same_clip(clip):
    engine = Engine(Library())
    first = answer(engine, asked(clip))[-1].runs
    second = list(preview(engine, asked(clip, retention_ratio=0.5), first))[-1].runs
    third = list(preview(engine, asked(clip, retention_ratio=0.1), second))[-1]
    fourth = list(preview(engine, asked(clip, retention_ratio=0.2), third.runs))[-1]
    assert second[1:] == first and third.runs[1:] == second
    assert fourth.runs[1:] == [third.runs[0], *first]  # one look is enough, answers stay
    assert third.viewer["methods"][0]["label"].endswith("10 %")
    again = list(preview(engine, asked(clip), fourth.runs))[-1]
    assert not set(again.runs) & set(first)  # the same settings are not shown twice
    other = Request(clip, 4, "builtin", GleanVID)
    assert len(list(preview(engine, other, again.runs))[-1].runs) == 1


@pytest.mark.parametrize(
    ("sampling", "name"), [({"temperature": 9}, "temperature"), ({"seed": None}, "seed")]
)
def test_numbers_out_of_range_are_named(clip, sampling, name):
    request = Request(clip, 8, "builtin", GleanVID, sampling=sampling)
    last = answer(Engine(Library()), request)[-1]
    assert last.notice["kind"] == "problem" and name in last.notice["text"]


def test_a_new_setting_reads_and_encodes_nothing_again(clip):
    library = Library()
    engine = Engine(library)
    masks = {
        list(preview(engine, asked(clip, retention_ratio=ratio)))[-1].viewer["data"]["path"]
        for ratio in (0.1, 0.3, 0.5)
    }
    assert len(masks) == 3
    assert (library.reads, library.encodes, library.loads) == (1, 1, 1)


def test_what_was_used_is_said(clip):
    last = list(preview(Engine(Library()), asked(clip)))[-1]
    assert "8 of 8 frames" in last.notice["text"] and "448 visual tokens" in last.notice["text"]
    assert ("Queue", "free") in last.status


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
    engine = Engine(Library())
    request, question = change(tmp_path, clip)
    last = answer(engine, request, question)[-1]
    assert sentence in last.notice["text"] and last.notice["kind"] == "problem" and last.done
    assert answer(engine, asked(clip))[-1].exchanges[-1]["answer"]


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), actions.OUT_OF_MEMORY),
        (MemoryError(), actions.OUT_OF_MEMORY),
        (ModelError("The model is gone."), "The model is gone."),
        (RuntimeError("/home/me/secret.py line 3"), actions.UNEXPECTED),
    ],
)
def test_a_failure_while_answering_is_told_without_inner_details(clip, failure, sentence):
    last = answer(Engine(Library(failure=failure)), asked(clip))[-1]
    assert last.notice["text"] == sentence and last.done


def test_stop_ends_the_answer_at_the_next_word_and_keeps_what_there_is(clip):
    library = Library(words=1000)
    engine = Engine(library)
    engine.start("me")
    shown = []
    for part in ask(engine, "me", asked(clip), "Tell me everything", []):
        shown.append(part)
        if part.exchanges and "word3" in part.exchanges[-1]["answer"]:
            engine.stop("me")
    assert shown[-1].notice["text"] == "Stopped."
    assert shown[-1].exchanges[-1]["answer"].split()[-1] in ("word3", "word4")
    assert library.closed.is_set()


def test_leaving_in_the_middle_frees_the_model(clip):
    library = Library(words=1000)
    engine = Engine(library)
    engine.start("me")
    running = ask(engine, "me", asked(clip), "Tell me everything", [])
    while "word2" not in str(next(running).exchanges):
        pass
    running.close()
    assert library.closed.is_set()
    assert engine.start("me")


def test_a_question_stopped_while_it_waited_is_not_answered(clip):
    engine = Engine(Library(words=1000))
    engine.start("me")
    waiting = ask(engine, "me", asked(clip), "Tell me everything", [])
    engine.stop("me")
    assert len(list(waiting)) < 10


def test_stop_while_the_clip_is_encoded_leaves_the_model_and_keeps_the_turns(clip):
    library = Library()
    engine = Engine(library)
    turns = answer(engine, asked(clip))[-1].exchanges
    library.encode_s = 60
    engine.start("me")
    request = Request(clip, 6, "builtin", GleanVID)
    running = ask(engine, "me", request, "And now?", turns)
    while not next(running).notice["text"].startswith("Encoding"):
        pass
    threading.Timer(0.05, engine.stop, ["me"]).start()
    started = time.perf_counter()
    last = list(running)[-1]
    assert time.perf_counter() - started < 0.5
    assert last.notice["text"] == "Stopped." and last.exchanges == turns and last.done
    assert len(engine.line) == 0


def test_earlier_turns_are_handed_to_the_model_without_our_own_words(clip):
    library = Library()
    engine = Engine(library)
    answer(engine, asked(clip), "And?", [exchange("First?", "Red."), exchange("Second?", "")])
    assert library.asked.history == [("First?", "Red.")]


def test_sampling_and_the_pixel_budget_reach_the_model(clip):
    library = Library()
    request = Request(clip, 8, "builtin", GleanVID, 100, {"temperature": 0.5, "seed": 3})
    answer(Engine(library), request)
    assert library.asked.clip.max_pixels == 800
    assert library.asked.sampling == Sampling(temperature=0.5, seed=3)


def test_a_question_past_its_deadline_ends_with_a_message_and_what_was_said(clip):
    engine = Engine(Library(words=1000, pause_s=0.02), line=Line(deadline_s=2.0))
    list(
        preview(engine, asked(clip))
    )  # what a busy machine makes slow is done before the clock runs
    last = answer(engine, Request(clip, 8, "builtin", COMPRESSORS["uniform"]))[-1]
    assert "longer than 2" in last.notice["text"]
    assert last.exchanges[-1]["answer"].startswith("word0") and len(engine.line) == 0


def test_new_settings_take_no_turn_behind_another_s_long_answer(clip):
    engine = Engine(Library(words=1000))
    engine.start("you")
    theirs = ask(engine, "you", asked(clip), "Tell me everything", [])
    while not (next(theirs).exchanges or [{}])[-1].get("answer"):
        pass
    shown = list(preview(engine, asked(clip, retention_ratio=0.5)))
    assert shown[-1].viewer and len(shown) == 1
    theirs.close()


def test_one_page_asks_one_thing_at_a_time_and_pages_do_not_meet():
    engine = Engine(Library())
    assert engine.start("me") and not engine.start("me") and engine.start("you")
    engine.stop("me")
    assert engine.start("me") and not engine.start("you")


class Late(GleanVID):
    """A method that acts inside the language model."""

    @property
    def stages(self):
        return ((2, self),)


def test_a_method_that_decides_late_shows_its_tokens_with_the_answer(clip):
    library = Library()
    engine, request = Engine(library), Request(clip, 8, "builtin", Late)
    assert list(preview(engine, request))[-1].notice["text"] == actions.DECIDES_LATE
    assert library.encodes == 0
    shown = answer(engine, request)
    assert [bool(part.viewer) for part in shown] == [False] * (len(shown) - 1) + [True]
