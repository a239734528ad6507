import threading
from dataclasses import replace

import pytest

from components.jobs.display import unmeasured
from components.jobs.engine import Engine
from components.jobs.local import PHOTOS
from components.jobs.request import Request, Sides
from components.jobs.store import RunStore
from components.tokens.measure import measure
from components.tokens.preview import preview
from gleanvid import FullTokens, GleanVID
from tests.components.fake import FakeBackend
from tests.components.tokens.test_preview import answered, shown

pytestmark = pytest.mark.usefixtures("cache")
MOVES = Sides(question="What moves?")


@pytest.fixture
def engine():
    return Engine(FakeBackend())


def updates_of_measurement(engine, clip, sides, model="builtin"):
    assert engine.pages.start("me")
    return list(measure(engine, "me", Request(clip, 8, model), sides))


def test_both_sides_show_their_fraction_of_relevance_kept_also_after_settings_change(engine, clip):
    b, a = answered(engine, clip, GleanVID()), answered(engine, clip, FullTokens())
    last = updates_of_measurement(engine, clip, replace(MOVES, runs=[b, a]))[-1]
    assert last.done and last.runs == [b, a] and "measured in 0.1 s" in last.notice["text"]
    found = engine.runs.relevance([a], "What moves?")
    assert found.answer == engine.runs.get(a).answer == last.viewer["relevance"]["answer"]
    kept = [method["mattered"][0] for method in last.viewer["methods"]]
    assert kept[1] == 1 and kept[0] == pytest.approx(
        found.kept(engine.runs.get(b).compression), abs=1e-4
    )
    moved = shown(engine, clip, replace(MOVES, runs=last.runs), tau=2.0)
    assert moved.viewer["relevance"]["maps"] and engine.backend.measured == 1
    other = shown(engine, clip, Sides(last.runs, question="And now?"))
    assert other.viewer["relevance"] is None


def test_relevance_measurement_asks_with_all_tokens_first_if_that_answer_is_missing(engine, clip):
    request = Request(clip, 8, "builtin")
    before = list(preview(engine, request, MOVES))[-1]
    updates = updates_of_measurement(engine, clip, replace(MOVES, runs=before.runs))
    said = [update.notice["text"] for update in updates if update.notice]
    assert "Answering with all tokens…" in said
    answers = [engine.runs.get(run_id) for run_id in updates[-1].runs[2:]]
    assert [run.compressor["name"] for run in answers] == ["full"] and answers[0].answer
    assert updates[-1].viewer["relevance"]["answer"] == answers[0].answer


def test_stopped_relevance_measurement_stores_nothing(engine, clip):
    a = answered(engine, clip, FullTokens())
    engine.backend.measure_s = 60
    assert engine.pages.start("me")
    updates = []
    for update in measure(engine, "me", Request(clip, 8, "builtin"), replace(MOVES, runs=[a])):
        updates.append(update)
        if update.notice and "Measuring" in update.notice["text"]:
            threading.Timer(0.1, engine.pages.stop, ["me"]).start()
    assert updates[-1].notice["text"] == "Stopped." and updates[-1].done
    assert engine.runs.relevance([a], "What moves?") is None and not len(engine.queue)


def test_model_s_refusal_to_measure_relevance_is_shown(engine, clip):
    engine.backend.refusal = "No gradient reaches the tokens."
    last = updates_of_measurement(
        engine, clip, replace(MOVES, runs=[answered(engine, clip, FullTokens())])
    )[-1]
    assert last.notice == {"text": "No gradient reaches the tokens.", "kind": "problem"}


def test_models_that_cannot_measure_relevance_are_refused_in_one_line():
    assert "answers no questions" in unmeasured(PHOTOS)
    assert "on a server" in unmeasured("vllm:http://127.0.0.1:8000")
    assert not unmeasured("builtin")


def test_relevance_is_deleted_with_its_run(engine, clip):
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
