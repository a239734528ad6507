"""What a person can take back: a look that encodes ends, an answer made again is never lost."""

from __future__ import annotations

import threading
import time

import pytest

from components.session.actions import ask, preview
from components.session.engine import Engine
from components.session.line import Line, Work
from components.session.request import Request
from gleanvid import GleanVID, ModelError
from tests.components.fake import Library

pytestmark = pytest.mark.usefixtures("cache")


def asked(path) -> Request:
    return Request(path, 8, "builtin", GleanVID)


def answer(engine, request, question="What moves?", turns=()):
    engine.start("me")
    return list(ask(engine, "me", request, question, list(turns)))


def encoding(engine, request, session="me"):
    """A look of ``session`` that has begun to encode."""
    running = preview(engine, request, session=session)
    shown = next(running)
    assert shown.notice["text"].startswith("Encoding") and shown.stoppable
    return running


def test_stop_ends_a_look_while_the_clip_is_encoded_and_frees_the_model(clip):
    library = Library()
    library.encode_s = 60
    engine = Engine(library)
    running = encoding(engine, asked(clip))
    threading.Timer(0.05, engine.stop, ["me"]).start()
    started = time.perf_counter()
    parts = list(running)
    assert time.perf_counter() - started < 0.5
    assert [part.notice["text"] for part in parts] == ["Stopped."]
    assert len(engine.line) == 0 and library.encodes == 0 and engine.start("me")


def test_a_newer_look_of_a_page_ends_the_one_before_in_silence(clip):
    library = Library()
    library.encode_s = 60
    engine = Engine(library)
    old, others = encoding(engine, asked(clip)), engine.looking("you")
    threading.Timer(0.05, setattr, [library, "encode_s", 0]).start()
    threading.Timer(0.1, lambda: shown.extend(preview(engine, asked(clip), session="me"))).start()
    shown = []
    assert list(old) == []
    assert not others.stop.is_set()
    until = time.monotonic() + 5
    while not any(part.viewer for part in shown) and time.monotonic() < until:
        time.sleep(0.01)
    assert shown[-1].viewer and len(engine.line) == 0


def test_the_end_of_an_answer_leaves_a_look_of_its_page_alone(clip):
    engine = Engine(Library())
    work = engine.looking("me")
    answer(engine, asked(clip))
    assert not work.stop.is_set()
    assert engine.stop("me") == [work] and work.stop.is_set()


@pytest.mark.parametrize("trouble", ["stop", "error", "full"])
def test_an_answer_that_cannot_be_made_again_stays(clip, trouble):
    library = Library()
    engine = Engine(library, line=Line(places=0))
    turns = answer(engine, asked(clip), "First?")[-1].exchanges
    turns = answer(engine, asked(clip), "Second?", turns)[-1].exchanges
    assert [item["question"] for item in turns] == ["First?", "Second?"]
    other = Work()
    if trouble == "full":
        list(engine.line.wait(other))
    if trouble == "error":
        library.failure = ModelError("The model is gone.")
    engine.start("me")
    running = ask(engine, "me", asked(clip), "Second?", turns, again=True)
    shown = []
    for part in running:
        shown.append(part)
        if trouble == "stop" and part.notice and part.notice["text"].startswith("Encoding"):
            engine.stop("me")
    assert shown[-1].done and shown[-1].exchanges == turns
    engine.line.leave(other)
    library.failure = None
    engine.start("me")
    last = list(ask(engine, "me", asked(clip), "Second?", turns, again=True))[-1]
    assert len(last.exchanges) == 2 and last.exchanges[1]["id"] != turns[1]["id"]
