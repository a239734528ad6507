from __future__ import annotations

import pytest

from components.compare.least import NO_METHODS, least
from components.jobs.engine import Engine
from components.jobs.request import Request
from gleanvid import COMPRESSORS
from tests.components.fake import FakeBackend

pytestmark = pytest.mark.usefixtures("cache")


class Fading(FakeBackend):
    """Backend whose answers are shorter if fewer than a fifth of the tokens are kept."""

    def stream_answer(self, question, model, stop):
        self.words = 6 if question.compressor.retention_ratio >= 0.2 else 3
        return super().stream_answer(question, model, stop)


def found(engine, clip, names):
    engine.pages.start("me")
    request = Request(clip, 8, "builtin")

    def make(name, ratio):
        return COMPRESSORS[name](retention_ratio=ratio)

    yield from least(engine, "me", request, "What moves?", names, make)


def test_lowest_ratio_that_keeps_the_answer_is_reported_with_a_run_below_that_ratio(clip):
    engine = Engine(Fading())
    last = list(found(engine, clip, ["gleanvid", "full", "dycoke"]))[-1]
    ours, floored = last.value["rows"]
    # The lowest ratio is between 20 and 21 %.
    assert ours["text"].startswith("GleanVID keeps it down to 2")
    below = engine.runs.get(ours["id"])
    assert 0.18 < below.compressor["retention_ratio"] < 0.2 and below.answer in ours["other"]
    assert "refuses lower ratios" in floored["text"]
    assert last.done and last.value["done"] and engine.backend.encodes == 1
    assert len(engine.queue) == 0 and not engine.pages.has("me")


def test_stopped_search_for_the_lowest_ratio_keeps_results_so_far(clip):
    engine = Engine(Fading())
    updates = found(engine, clip, ["uniform", "random"])
    for update in updates:
        if update.notice and update.notice["text"].startswith("Random"):
            engine.pages.stop("me")
    assert update.notice["text"] == "Stopped." and update.done
    assert [row["text"][:7] for row in update.value["rows"]] == ["Uniform"]


def test_search_for_the_lowest_ratio_without_a_compressor_is_refused_with_a_message(clip):
    (only,) = found(Engine(FakeBackend()), clip, ["full"])
    assert only.notice["text"] == NO_METHODS and only.done
