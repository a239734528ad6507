from dataclasses import replace

import pytest

from components.jobs.engine import Engine
from components.jobs.request import Sides
from components.tokens.ask import LIVE_S, ask_live, is_slow
from components.tokens.preview import preview
from tests.components.fake import FakeBackend
from tests.components.tokens.test_ask import (
    ALONE,
    BOTH,
    MOVES,
    last_of,
    request_of,
    text_of,
    updates_of,
)

pytestmark = pytest.mark.usefixtures("cache")


def test_live_answers_are_off_for_slow_models_and_checkpoints_of_unknown_answer_time(clip):
    engine = Engine(FakeBackend())
    assert not is_slow(engine, "builtin") and is_slow(engine, "some/checkpoint")
    updates_of(engine, request_of(clip))
    assert engine.answer_s["builtin"] > 0
    engine.answer_s["builtin"] = LIVE_S / 2
    assert not is_slow(engine, "builtin")
    engine.answer_s["builtin"] = LIVE_S + 1
    assert is_slow(engine, "builtin")


def test_live_answer_shows_no_message_and_ends_when_a_slider_moves(clip):
    backend = FakeBackend(words=1000)
    engine = Engine(backend)
    running = ask_live(engine, "me", request_of(clip), MOVES, ALONE)
    while not text_of(update := next(running)):
        assert update.notice is None and not update.done
    list(preview(engine, request_of(clip, tau=2.0), MOVES, "me"))
    assert list(running) == [] and backend.closed.is_set() and len(engine.queue) == 0
    engine.pages.start("me")
    # No live answer starts while a question of the page is running.
    assert list(ask_live(engine, "me", request_of(clip), MOVES)) == []
    engine.pages.stop("me")
    assert list(ask_live(engine, "me", request_of(clip), Sides())) == []


def test_ask_button_asks_both_sides_again_and_a_live_answer_asks_only_side_b(clip):
    class Timed(FakeBackend):
        def stream_answer(self, question, model, stop):
            *words, run = super().stream_answer(question, model, stop)
            asked.append(question.compressor.name)
            yield from words
            yield replace(run, cost=replace(run.cost, prefill_s=float(len(asked))))

    asked = []
    engine = Engine(Timed(words=1))
    last = last_of(updates_of(engine, request_of(clip), both=BOTH))
    sides = replace(MOVES, runs=last.runs)
    again = last_of(updates_of(engine, request_of(clip), sides, BOTH))
    assert asked == ["gleanvid", "full"] * 2 and again.runs[1] == last.runs[1]
    assert engine.runs.get(again.runs[1]).cost.prefill_s == 4.0
    moved = request_of(clip, tau=2.0)
    list(ask_live(engine, "me", moved, replace(MOVES, runs=again.runs), BOTH))
    assert asked[4:] == ["gleanvid"]
