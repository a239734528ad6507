"""What stands beside an answer."""

from __future__ import annotations

from dataclasses import replace

import torch

from components.session.display import answer, history
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
