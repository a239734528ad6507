"""What stands beside an answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from components.session.display import answer, count_of, duration_text, history
from gleanvid import Compression, Uniform
from tests.components.fake import a_run, moving_square


def test_an_answer_brings_verdict_and_cost():
    record = Compression.pruned(torch.arange(28), (1, 8, 14))
    run = a_run(moving_square(2), record, Uniform(0.25), "What moves?", "A square.")
    given = answer("a square", "id", "b", run=run, expected="A square.")
    assert (given["right"], given["stale"], given["question"]) == (True, False, "What moves?")
    assert (given["ttft_s"], given["flops_saved"], given["tokens_per_s"]) == (0.304, 0.75, 20.0)
    assert (
        answer("a", run=replace(run, cost=replace(run.cost, new_tokens=2)))["tokens_per_s"] is None
    )
    assert answer("a circle", expected="A square.")["right"] is False
    assert answer("a", expected="A square.", running=True)["right"] is None


def test_exchanges_without_words_are_not_read_again():
    pairs = [("First?", " Red. "), ("Second?", "  "), ("", "Blue.")]
    given = [{"question": question, "answer": text} for question, text in pairs]
    assert history(given) == [("First?", "Red.")]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.04, "0.0 s"), (59.9, "59.9 s"), (90, "1:30"), (3600.2, "1:00:00")]
)
def test_durations_from_a_minute_on_are_written_as_a_clock_does(seconds, text):
    assert duration_text(seconds) == text


def test_one_frame_is_no_plural():
    assert [count_of(count, "frame") for count in (1, 2, 18_000)] == [
        "1 frame",
        "2 frames",
        "18,000 frames",
    ]
