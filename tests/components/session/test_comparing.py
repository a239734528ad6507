"""Rows come one by one; one method's fault is its own row; everything is encoded once."""

from __future__ import annotations

import threading

import pytest

from components.session import rows
from components.session.comparing import compare, plans
from components.session.engine import Engine
from components.session.line import Line
from components.session.request import NO_QUESTION, Request
from components.viewer.payload import MAX_METHODS
from gleanvid import COMPRESSORS, GleanVID
from tests.components.fake import Library

pytestmark = pytest.mark.usefixtures("cache")


def make(name, ratio):
    return COMPRESSORS[name](retention_ratio=ratio)


def compared(engine, clip, names, ratios=(0.25,), making=make, question="What moves?"):
    engine.start("me")
    request = Request(clip, 8, "builtin", GleanVID)
    return list(compare(engine, "me", request, question, lambda: plans(names, ratios, making)))


def test_full_tokens_come_first_then_every_method_at_every_ratio():
    found = plans(["uniform", "full", "random"], [0.1, 0.5], make)
    assert [label for label, _ in found] == [
        "All tokens",
        *("Uniform 10 %", "Uniform 50 %", "Random 10 %", "Random 50 %"),
    ]
    assert found[2][1]().retention_ratio == 0.5


@pytest.mark.parametrize(("names", "ratios"), [([], [0.1]), (["uniform"], []), (["full"], [0.1])])
def test_nothing_to_compare_is_said(names, ratios):
    with pytest.raises(ValueError, match="Choose at least one"):
        plans(names, ratios, make)


def test_too_many_rows_are_refused():
    with pytest.raises(ValueError, match="the limit is"):
        plans(["uniform", "random"], [n / 100 for n in range(1, 30)], make)


def test_rows_finish_one_by_one_on_one_encoding(clip):
    library = Library()
    engine = Engine(library)
    shown = compared(engine, clip, ["gleanvid", "uniform"])
    counts = [sum(row.state == "done" for row in part.rows) for part in shown if part.rows]
    assert counts == sorted(counts) and set(counts) == {0, 1, 2, 3}
    assert (library.reads, library.encodes) == (1, 1)
    last = shown[-1]
    assert last.done and len(last.run_ids) == 3 and len(last.viewer["methods"]) == 3
    assert (last.viewer["a"], last.viewer["b"]) == (1, 0)
    assert engine.runs.get(last.run_ids[0]).compressor["name"] == "gleanvid"
    assert [row.score for row in last.rows] == [-0.5, -2.0, -2.0]
    assert len(engine.line) == 0 and not engine.busy("me")


def test_a_failing_method_is_a_row_with_its_error(clip):
    def broken(name, ratio):
        if name == "random":
            raise ValueError("random cannot do that here")
        return make(name, ratio)

    rows = compared(Engine(Library()), clip, ["random", "uniform"], making=broken)[-1].rows
    assert [row.state for row in rows] == ["done", "failed", "done"]
    assert rows[1].error == "random cannot do that here"


def test_a_row_past_its_deadline_fails_and_the_next_is_tried(clip):
    engine = Engine(Library(words=1000, pause_s=0.02), line=Line(deadline_s=0.1))
    rows = compared(engine, clip, ["uniform"])[-1].rows
    assert [row.state for row in rows] == ["failed", "failed"]
    assert all("longer than 0.1 seconds" in row.error for row in rows)


def test_stop_ends_it_all_and_keeps_the_rows_that_are_done(clip):
    library = Library(pause_s=0.01)
    engine = Engine(library)
    engine.start("me")
    request = Request(clip, 8, "builtin", GleanVID)
    names = ["gleanvid", "uniform", "random"]
    running = compare(engine, "me", request, "What?", lambda: plans(names, [0.2], make))
    for part in running:
        if part.rows and part.rows[0].state == "done":
            break
    library.words = 100_000
    threading.Timer(0.1, engine.stop, ["me"]).start()
    last = list(running)[-1]
    assert last.notice["text"].startswith("Stopped. Used 8 of 8 frames from") and last.done
    assert [(row.state, row.viewed) for row in last.rows] == [("done", True)]
    assert len(last.viewer["methods"]) == 1 and last.run_ids == [last.rows[0].run_id]
    assert engine.runs.get(last.run_ids[0]) is last.rows[0].run
    assert len(engine.line) == 0 and engine.start("me")


def test_a_row_says_that_it_is_in_the_viewer_only_once_it_is_there(clip):
    *before, last = compared(Engine(Library()), clip, ["gleanvid"])
    assert not any(row.viewed for part in before for row in part.rows or [])
    assert [line["viewed"] for line in rows.table_view(last.rows)["rows"]] == [True, True]
    assert "448 visual tokens before compression" in last.notice["text"]
    wide = compared(Engine(Library()), clip, ["uniform"], [n / 100 for n in range(5, 20)])[-1]
    assert sum(row.viewed for row in wide.rows) == len(wide.viewer["methods"]) == MAX_METHODS


def test_no_row_is_left_running_where_a_comparison_ends_early(clip):
    engine = Engine(Library())
    stopped = []
    engine.start("me")
    request = Request(clip, 8, "builtin", GleanVID)
    for part in compare(engine, "me", request, "What?", lambda: plans(["uniform"], [0.2], make)):
        stopped.append(part)
        if part.rows and part.rows[0].state == "running":
            engine.stop("me")
    assert stopped[-1].rows == [] and stopped[-1].notice["text"] == "Stopped."
    told = rows.table_view([rows.Row("a", "done"), rows.Row("b", "running"), rows.Row("c")])
    assert [line["label"] for line in rows.settled(told)["rows"]] == ["a"]


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("", NO_QUESTION),
        ("   ", NO_QUESTION),
        ("x" * 10_001, "this one has 10,001"),
    ],
    ids=["empty", "blank", "long"],
)
def test_no_comparison_without_a_question_or_with_an_endless_one(clip, question, sentence):
    library = Library()
    last = compared(Engine(library), clip, ["uniform"], question=question)[-1]
    assert last.done and sentence in last.notice["text"] and not library.reads


def test_words_that_differ_are_marked_against_the_full_tokens(clip):
    done = compared(Engine(Library()), clip, ["uniform"])[-1].rows
    value = rows.table_view(done)
    assert len(value["rows"][0]["cells"]) == len(value["columns"])
    assert all(not differs for _, differs in value["rows"][1]["answer"])
    assert rows.words("a red cross", "a blue cross") == [
        ["a", False],
        [" ", False],
        ["red", True],
        [" ", False],
        ["cross", False],
    ]


def test_a_table_for_machines_has_numbers_and_no_nan(clip):
    made = compared(Engine(Library()), clip, ["uniform"])[-1].rows
    table = rows.table([*made, rows.Row("late")])
    kept = [row.run.compression.num_kept for row in made]
    assert [line["tokens"] for line in table] == [*kept, None] and kept[0] == 4 * kept[1]
    assert [line["cells"][0] for line in rows.table_view(made)["rows"]] == [f"{n:,}" for n in kept]
    assert table[1]["agreement"] == 1.0 and table[1]["mean_log_probability"] == -2.0
    assert table[2]["ttft_s"] is None and table[2]["answer"] is None
