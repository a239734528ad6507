from dataclasses import replace

import pytest

from components.compare.least import NO_METHODS, least
from components.jobs.engine import Engine
from components.jobs.queue import Work
from components.jobs.request import Request
from gleanvid import COMPRESSORS
from gleanvid.metrics.least import percent
from gleanvid.models.generation.sampling import Sampling
from tests.components.fake import FakeBackend

pytestmark = pytest.mark.usefixtures("cache")


class Fading(FakeBackend):
    """Backend whose answers are shorter if fewer than a fifth of the tokens are kept."""

    def stream_answer(self, question, model, stop):
        self.words = 6 if question.compressor.retention_ratio >= 0.2 else 3
        return super().stream_answer(question, model, stop)


def make(name, ratio):
    return COMPRESSORS[name](retention_ratio=ratio)


def found(engine, clip, names, tried=()):
    engine.pages.start("me")
    request = Request(clip, 8, "builtin")
    yield from least(engine, "me", request, "What moves?", names, make, tried)


def test_lowest_ratio_that_keeps_the_answer_is_reported_and_opens_the_run_there(clip):
    engine = Engine(Fading())
    last = list(found(engine, clip, ["gleanvid", "full", "dycoke"]))[-1]
    ours, floored = last.value["rows"]
    # The lowest ratio is between 20 and 21 %.
    assert ours["text"].startswith("GleanVID keeps it down to 2")
    ratio = engine.runs.get(ours["id"]).compressor["retention_ratio"]
    assert 0.2 <= ratio < 0.22 and ours["text"] == f"GleanVID keeps it down to {percent(ratio)}."
    assert "word2”" in ours["other"]
    assert "refuses lower ratios" in floored["text"]
    assert last.done and last.value["done"] and engine.backend.encodes == 1
    assert len(engine.queue) == 0 and not engine.pages.has("me")


def test_earlier_runs_of_the_question_count_as_tries_and_break_the_order(clip):
    engine, request = Engine(Fading()), Request(clip, 8, "builtin")
    clip_key = request.clip(engine.clip(clip, 8))
    tried = []
    for ratio, words in ((0.5, 3), (0.12, 6)):  # 50 % loses the answer, 12 % keeps it
        run = engine.run(clip_key, "What moves?", make("uniform", ratio), Sampling(), Work())
        run = replace(run, answer=" ".join(f"word{number}" for number in range(words)))
        tried.append(engine.runs.add(run, clip, None))
    (row,) = list(found(engine, clip, ["uniform"], tried))[-1].value["rows"]
    assert "Not monotone: " in row["text"] and "kept at 12 %, " in row["text"]
    assert "lost at 50 %, kept at " in row["text"]
    other = [engine.runs.add(replace(run, question="Why?"), clip, None)]
    (row,) = list(found(engine, clip, ["uniform"], other))[-1].value["rows"]
    assert "12 %" not in row["text"]


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
