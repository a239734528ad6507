"""What a person can take back: a look that encodes ends, an answer made again is never lost."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest

from components.session.actions.ask import ask, ask_live
from components.session.actions.preview import preview
from components.session.request import Request, Sides
from components.session.work.engine import Engine
from components.session.work.queue import Line, Work
from gleanvid import GleanVID, ModelError
from tests.components.fake import Library

pytestmark = pytest.mark.usefixtures("cache")


def asked(path) -> Request:
    return Request(path, 8, "builtin", GleanVID)


def answer(engine, request, question="What moves?", runs=()):
    engine.pages.start("me")
    return list(ask(engine, "me", request, Sides(runs, question=question)))


def encoding(engine, request, session="me"):
    """A look of ``session`` that has begun to encode."""
    running = preview(engine, request, Sides(), session)
    assert next(running).pending == "Reading the clip… The model is still being loaded."
    shown = next(running)
    assert shown.notice["text"].startswith("Encoding") and shown.stoppable
    return running


def test_stop_ends_a_look_while_the_clip_is_encoded_and_frees_the_model(clip):
    library = Library()
    library.encode_s = 60
    engine = Engine(library)
    running = encoding(engine, asked(clip))
    threading.Timer(0.05, engine.pages.stop, ["me"]).start()
    started = time.perf_counter()
    parts = list(running)
    assert time.perf_counter() - started < 0.5
    assert [part.notice["text"] for part in parts] == ["Stopped."]
    assert len(engine.line) == 0 and library.encodes == 0 and engine.pages.start("me")


def test_a_newer_look_of_a_page_ends_the_one_before_in_silence(clip):
    library = Library()
    library.encode_s = 60
    engine = Engine(library)
    old, others = encoding(engine, asked(clip)), engine.pages.begin_preview("you")
    threading.Timer(0.05, setattr, [library, "encode_s", 0]).start()
    threading.Timer(0.1, lambda: shown.extend(preview(engine, asked(clip), Sides(), "me"))).start()
    shown = []
    assert list(old) == []
    assert not others.stop.is_set()
    until = time.monotonic() + 5
    while not any(part.viewer for part in shown) and time.monotonic() < until:
        time.sleep(0.01)
    assert shown[-1].viewer and len(engine.line) == 0


def test_a_question_ends_a_preview_of_its_page_and_leaves_a_later_one_alone(clip):
    engine = Engine(Library())
    before = engine.pages.begin_preview("me")
    engine.pages.start("me")
    running = ask(engine, "me", asked(clip), Sides(question="What moves?"))
    next(running)
    assert before.stop.is_set()
    later = engine.pages.begin_preview("me")
    list(running)
    assert not later.stop.is_set()
    assert engine.pages.stop("me") == [later] and later.stop.is_set()


def test_preview_older_than_a_question_does_not_begin_after_it(clip):
    """It would replace the answers by tokens of before the question."""
    engine = Engine(Library())
    engine.pages.start("me")
    running = ask(engine, "me", asked(clip), Sides(question="What moves?", version=3))
    next(running)
    assert list(preview(engine, asked(clip), Sides(version=2), "me")) == []
    assert any(part.runs for part in running)
    assert list(preview(engine, asked(clip), Sides(version=4), "me"))


@pytest.mark.parametrize("trouble", ["stop", "error", "full"])
def test_an_answer_that_cannot_be_made_again_stays(clip, trouble):
    library = Library()
    engine = Engine(library, line=Line(places=0))
    first = [part for part in answer(engine, asked(clip)) if part.runs][-1]
    other = Work()
    if trouble == "full":
        list(engine.line.wait(other))
    if trouble == "error":
        library.failure = ModelError("The model is gone.")
    engine.pages.start("me")
    shown = []
    for part in ask(engine, "me", asked(clip), Sides(first.runs, question="What moves?")):
        shown.append(part)
        if trouble == "stop" and part.notice and part.notice["text"].startswith("Encoding"):
            engine.pages.stop("me")
    assert shown[-1].done and shown[-1].answers == first.answers
    engine.line.leave(other)
    library.failure = None
    again = [part for part in answer(engine, asked(clip), runs=first.runs) if part.runs][-1]
    assert again.runs[0] != first.runs[0]


def test_what_comes_late_of_an_earlier_state_of_the_page_shows_nothing(clip):
    engine, question = Engine(Library()), "What moves?"
    newest = list(preview(engine, asked(clip), Sides(question=question, version=5), "me"))
    assert newest[-1].viewer
    late, now = Sides(question=question, version=4), Sides(question=question, version=5)
    assert list(ask_live(engine, "me", asked(clip), late)) == []
    assert any(part.answers for part in ask_live(engine, "me", asked(clip), now))
    for again in (late, now):
        assert list(preview(engine, asked(clip), again, "me")) == []
        assert list(ask_live(engine, "me", asked(clip), again)) == []
    assert any(
        part.answers for part in ask_live(engine, "me", asked(clip), replace(now, version=6))
    )
    assert list(preview(engine, asked(clip), late, "you"))[-1].viewer  # another page


def test_a_live_answer_waits_for_no_preview_and_ends_none(clip):
    """It is of the state before; the preview that is under way brings its own."""
    engine = Engine(Library())
    showing = encoding(engine, asked(clip))
    late = Sides(question="What moves?", version=9)
    assert list(ask_live(engine, "me", asked(clip), late)) == []
    assert [part.viewer for part in showing if part.viewer]
