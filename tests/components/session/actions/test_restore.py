"""A reloaded tab gets its own results back, and no others."""

from __future__ import annotations

import json

import pytest

from components.session.actions import restore
from components.session.actions.ask import ask
from components.session.actions.preview import preview
from components.session.examples import Example
from components.session.request import Request, Sides
from components.session.work.engine import Engine
from tests.components.fake import FakeBackend, write_clip


@pytest.fixture
def clip(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "cache"))
    path = tmp_path / "clip.mp4"
    write_clip(path)
    return path


@pytest.fixture
def page(clip):
    """An engine, and the last state of a page: a preview after two questions."""
    engine, runs = Engine(FakeBackend()), ()
    example = Example(clip, "Clip", "", (("Second?", "Red."),))
    for question in ("First?", "Second?"):
        runs = shown(engine, clip, question, runs, example=example)
    request = Request(str(clip), 8, "builtin", settings={"retention_ratio": 0.5}, example=example)
    return engine, list(preview(engine, request, Sides(runs, question="Second?")))[-1]


def shown(engine, clip, question, runs=(), **more):
    """The runs on show once a question is answered."""
    engine.pages.start("me")
    request = Request(str(clip), 8, "builtin", **more)
    parts = list(ask(engine, "me", request, Sides(runs, question=question)))
    return next(part.runs for part in reversed(parts) if part.runs)


def kept(runs) -> str:
    return json.dumps({"shown": runs})


def test_lost_comparison_table_is_mentioned(page):
    engine, last = page
    for compared, said in ((True, f"{restore.BACK} {restore.NO_TABLE}"), (False, restore.BACK)):
        text = json.dumps({"shown": last.runs, "compared": compared})
        assert restore.restored(engine, text).text == said


def test_viewer_answers_and_clip_come_back(page, clip):
    engine, last = page
    back = restore.restored(engine, kept(last.runs))
    assert back.text == restore.BACK and back.path == str(clip)
    assert back.view.runs == last.runs == back.view.value["runs"]
    assert back.view.value["methods"] == last.viewer["methods"]
    assert back.view.value["novelty"] == last.viewer["novelty"] is not None
    assert (back.view.value["a"], back.view.value["b"]) == (1, 0)
    assert back.view.answers == last.answers and last.answers[0]["right"] is False


def test_a_clip_read_under_a_pixel_limit_keeps_its_novelty(clip):
    engine = Engine(FakeBackend())
    back = restore.restored(engine, kept(shown(engine, clip, "First?", pixels=100)))
    assert back.view.value["novelty"] is not None


def test_missing_results_are_mentioned(page, clip):
    engine, last = page
    clip.unlink()
    back = restore.restored(engine, kept([*last.runs, "gone"]))
    assert restore.NO_CLIP in back.text and restore.SOME_GONE in back.text
    assert back.path is None and back.view.runs == last.runs
    lost = restore.restored(Engine(FakeBackend()), kept(last.runs))
    assert lost == restore.Restored(restore.ALL_GONE)


@pytest.mark.parametrize(
    "text", [None, "", "no", "[]", "{}", '{"shown": 3}', '{"shown": []}', "[" * 9000]
)
def test_malformed_state_changes_nothing(page, text):
    assert restore.restored(page[0], text) is None


def test_too_many_ids_are_not_read():
    many = [f"id {index}" for index in range(99)]
    assert restore.kept(kept(many)) == (many[: restore.MAX_METHODS], False, [])


def test_clips_that_left_the_page_are_named_unless_one_came_back(page, clip):
    engine, last = page
    both = json.dumps({"shown": last.runs, "own": [f"{clip.parent.name}/clip.mp4", "b/c.mp4"]})
    assert restore.restored(engine, both).text == f"{restore.BACK} {restore.NO_SHELF}"
    own = json.dumps({"shown": last.runs, "own": [f"{clip.parent.name}/clip.mp4"]})
    assert restore.restored(engine, own).text == restore.BACK
    assert (
        restore.restored(engine, json.dumps({"shown": [], "own": ["x"]})).text == restore.NO_SHELF
    )


def test_ids_cannot_be_guessed(page):
    _, last = page
    assert len(set(last.runs)) > 2 and all(len(run_id) >= 22 for run_id in last.runs)  # 128 bits
