"""Relevance in the app: measured for the answer of all tokens and stored with its run."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from components.session.actions.measure import measure
from components.session.actions.preview import preview
from components.session.request import Request, Sides, unmeasured
from components.session.work.engine import Engine
from components.session.work.local import PHOTOS
from components.session.work.store import RunStore
from gleanvid import FullTokens, GleanVID
from tests.components.fake import FakeBackend
from tests.components.session.actions.test_preview import answered, shown

pytestmark = pytest.mark.usefixtures("cache")
MOVES = Sides(question="What moves?")


@pytest.fixture
def engine():
    return Engine(FakeBackend())


def measured(engine, clip, sides, model="builtin"):
    """All updates of a measurement."""
    assert engine.pages.start("me")
    return list(measure(engine, "me", Request(clip, 8, model), sides))


def test_both_sides_show_the_relevance_they_keep_under_later_settings_too(engine, clip):
    b, a = answered(engine, clip, GleanVID()), answered(engine, clip, FullTokens())
    last = measured(engine, clip, replace(MOVES, runs=[b, a]))[-1]
    assert last.done and last.runs == [b, a] and "measured in 0.1 s" in last.notice["text"]
    found = engine.runs.relevance([a], "What moves?")
    assert found.answer == engine.runs.get(a).answer == last.viewer["relevance"]["answer"]
    kept = [method["stages"][0]["mattered"][0] for method in last.viewer["methods"]]
    assert kept[1] == 1 and kept[0] == pytest.approx(
        found.kept(engine.runs.get(b).compression), abs=1e-4
    )
    moved = shown(engine, clip, replace(MOVES, runs=last.runs), tau=2.0)
    assert moved.viewer["relevance"]["maps"] and engine.backend.measured == 1
    other = shown(engine, clip, Sides(last.runs, question="And now?"))
    assert other.viewer["relevance"] is None


def test_measuring_first_asks_with_all_tokens_if_necessary(engine, clip):
    request = Request(clip, 8, "builtin")
    before = list(preview(engine, request, MOVES))[-1]
    updates = measured(engine, clip, replace(MOVES, runs=before.runs))
    said = [update.notice["text"] for update in updates if update.notice]
    assert "Answering with all tokens…" in said
    answers = [engine.runs.get(run_id) for run_id in updates[-1].runs[2:]]
    assert [run.compressor["name"] for run in answers] == ["full"] and answers[0].answer
    assert updates[-1].viewer["relevance"]["answer"] == answers[0].answer


def test_stop_ends_a_measurement_and_keeps_nothing(engine, clip):
    a = answered(engine, clip, FullTokens())
    engine.backend.measure_s = 60
    threading.Timer(0.5, engine.pages.stop, ["me"]).start()
    updates = measured(engine, clip, replace(MOVES, runs=[a]))
    assert updates[-1].notice["text"] == "Stopped." and updates[-1].done
    assert engine.runs.relevance([a], "What moves?") is None and not len(engine.queue)


def test_refusal_of_a_model_is_shown(engine, clip):
    engine.backend.refusal = "No gradient reaches the tokens."
    last = measured(engine, clip, replace(MOVES, runs=[answered(engine, clip, FullTokens())]))[-1]
    assert last.notice == {"text": "No gradient reaches the tokens.", "kind": "problem"}


def test_models_that_cannot_be_measured_are_named_in_one_line():
    assert "answers no question" in unmeasured(PHOTOS)
    assert "on a server" in unmeasured("vllm:http://127.0.0.1:8000")
    assert not unmeasured("builtin")


def test_relevance_is_dropped_with_its_run(engine, clip):
    engine.runs = RunStore(most=1)
    a = answered(engine, clip, FullTokens())
    found = engine.backend.relevance(
        Request(clip, 8, "builtin").clip(engine.clip(clip, 8)),
        "What moves?", "A square.", None, threading.Event(),
    )  # fmt: skip
    engine.runs.add_relevance(a, found)
    assert engine.runs.relevance([a], " What moves? ") is found
    answered(engine, clip, FullTokens())
    assert engine.runs.relevance([a], "What moves?") is None
