"""Which runs stand side by side, and which answers belong to them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.session.actions.preview import BEFORE, answers, preview
from components.session.actions.runs import distinct
from components.session.request import Request, Sides
from components.session.work.engine import Engine
from gleanvid import GleanVID, Uniform
from tests.components.fake import FakeBackend, a_run

pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def engine():
    return Engine(FakeBackend())


def shown(engine, clip, sides, compressor="gleanvid", frames=8, **settings):
    """The last update of a preview under these settings."""
    request = Request(clip, frames, "builtin", compressor, settings)
    return list(preview(engine, request, sides))[-1]


def answered(engine, clip, compressor, question="What moves?"):
    """The id of a run that gave an answer."""
    video = engine.clip(clip, 8)
    record = compressor.compress(engine.backend.tokens(video))
    return engine.runs.add(a_run(video, record, compressor, question), clip)


def names(engine, ids):
    return [engine.runs.get(run_id).compressor["name"] for run_id in ids]


def test_b_has_the_settings_and_a_all_tokens(engine, clip):
    update = shown(engine, clip, Sides())
    assert names(engine, update.runs) == ["gleanvid", "full"]
    assert (update.viewer["a"], update.viewer["b"]) == (1, 0)
    again = shown(engine, clip, Sides(update.runs), tau=2.0)
    assert again.runs[1] == update.runs[1] and again.runs[0] != update.runs[0]


def test_a_keeps_what_is_pinned_also_on_another_clip(engine, clip):
    sides = Sides(pinned=Uniform(0.5).settings())
    for frames in (8, 4):
        update = shown(engine, clip, sides, frames=frames)
        assert engine.runs.get(update.runs[1]).compressor == Uniform(0.5).settings()
        sides = replace(sides, runs=update.runs)


def test_settings_that_were_asked_before_bring_their_answer_back(engine, clip):
    sides = Sides([answered(engine, clip, GleanVID())], question="What moves?")
    update = shown(engine, clip, sides)
    assert update.runs[0] == sides.runs[0]
    assert [item["stale"] for item in update.answers] == [False]


def test_a_side_without_an_answer_shows_the_last_one_of_its_method(engine, clip):
    first = answered(engine, clip, GleanVID())
    update = shown(engine, clip, Sides([first], question="What moves?"), tau=2.0)
    assert update.runs[0] != first and update.runs[2] == first
    assert {(item["run"], item["side"]) for item in update.answers} == {(first, None), (first, "b")}
    other = shown(engine, clip, Sides([first], question="What moves?"), "uniform")
    assert [item["side"] for item in other.answers] == [None]


def test_an_answer_to_another_question_is_out_of_date(engine, clip):
    run_id = answered(engine, clip, GleanVID())
    known = answers(engine.runs, Sides([run_id], question=" What moves? "))
    assert [item["stale"] for item in known] == [False]
    assert answers(engine.runs, Sides([run_id], question="Why?"))[0]["stale"]


def test_the_same_settings_asked_two_questions_are_two_runs_tried(engine, clip):
    ids = [answered(engine, clip, GleanVID(), text) for text in ("What moves?", "Why?", "Why?")]
    update = shown(engine, clip, Sides(ids, question="Why?"))
    assert [engine.runs.get(run_id).question for run_id in update.runs] == [
        "Why?", "", "What moves?",
    ]  # fmt: skip


def test_curves_are_of_runs_that_differ_in_what_they_keep(engine, clip):
    ids = [
        answered(engine, clip, compressor, text)
        for compressor in (GleanVID(), Uniform(0.25))
        for text in ("What moves?", "Why?")
    ]
    kept = distinct([engine.runs.get(run_id) for run_id in ids])
    assert [run.compressor["name"] for run in kept] == ["gleanvid", "uniform"]


def test_runs_of_another_clip_or_size_are_left_out(engine, clip):
    update = shown(engine, clip, Sides([answered(engine, clip, Uniform(0.5))]))
    assert names(engine, update.runs) == ["gleanvid", "full", "uniform"]
    assert len(shown(engine, clip, Sides(update.runs), frames=4).runs) == 2
    smaller = Request(clip, 8, "builtin", pixels=100)
    assert len(list(preview(engine, smaller, Sides(update.runs)))[-1].runs) == 2


def test_previews_without_an_answer_do_not_pile_up(engine, clip):
    sides = Sides()
    for tau in (1.0, 2.0, 3.0):
        update = shown(engine, clip, sides, tau=tau)
        sides = Sides(update.runs)
        assert names(engine, update.runs) == ["gleanvid", "full"]


def test_the_viewer_hears_what_it_waits_for_and_what_it_still_shows(engine, clip):
    parts = list(preview(engine, Request(clip, 8, "builtin"), Sides()))
    waits = [part.pending for part in parts if part.pending]
    assert waits and all("…" in text for text in waits) and parts[-1].viewer
    refused = Request(clip, 8, "builtin", settings={"alpha_min": 0.9})
    assert list(preview(engine, refused, Sides(parts[-1].runs)))[-1].pending == BEFORE
    assert list(preview(engine, refused, Sides()))[-1].pending == ""  # there is no picture
