"""The cost line says what the run cost."""

from __future__ import annotations

from components.session.display import NO_WORDS, cost_line, exchange
from gleanvid import Cost


def test_the_cost_line_gives_every_figure_with_its_unit():
    cost = Cost(3136, 784, 3160, 808, 0.3, 0.5, 0.0042, 0.25, 2.0, 41, 512.4, 2.8e9, 1e10)
    assert cost_line(cost) == [
        ("visual tokens", "784 of 3,136 (25%)"),
        ("to first token", "0.75 s"),
        ("tokens/s", "20.0"),
        ("compress", "4.2 ms"),
        ("peak memory", "512 MiB"),
        ("prefill FLOPs", "−72%"),
    ]


def test_a_stage_inside_the_model_shows_the_average_over_its_layers():
    cost = Cost(800, 800, 900, 900, 0, 0, 0, 0, 0, 2, 0, 1, 1, (800, 400, 200, 200))
    assert cost_line(cost)[0] == ("visual tokens", "800 of 800 (50% over the layers)")


def test_an_answer_without_words_says_so_once_it_is_done():
    assert exchange("What?", "  ")["answer"] == NO_WORDS
    assert exchange("What?", "", running=True)["answer"] == ""
