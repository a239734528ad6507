import json
from dataclasses import replace
from types import SimpleNamespace

import gradio as gr
import pytest

from components.export import exports, opening
from components.export.opening import at_home
from components.export.panel import ELSEWHERE, OPENED
from components.jobs.engine import Engine
from components.jobs.examples import Example, ready
from components.page.page import build_app
from components.server import serving
from gleanvid import Uniform
from tests.components.fake import FakeBackend, a_run, write_clip

QUESTION = "What moves?"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Return an engine, its page and two examples; the page opens with the first example."""
    shown, folder = [], tmp_path_factory.mktemp("clips")
    for name in ("first.mp4", "second.mp4"):
        write_clip(folder / name)
        shown.append(Example(folder / name, name, QUESTION, ((QUESTION, "a square"),)))
    engine = Engine(FakeBackend())
    return engine, build_app(engine, examples=shown), shown


def run_of(engine, clip, **changes):
    library, video = engine.backend, engine.clip(str(clip), 8)
    record = Uniform(0.5).compress(library.tokens(video))
    return replace(a_run(replace(video, **changes), record, Uniform(0.5)), question=QUESTION)


def opened(page, run, tmp_path):
    """Open a saved run; return the changes of the page by id, label or class of widget."""
    _, blocks, (first, _) = page
    event = next(event for event in blocks.fns.values() if event.name == "on_open")
    values = {widget: widget.value for widget in event.inputs}
    (button,) = (widget for widget in values if widget.elem_id == "gv-open")
    (clip,) = (widget for widget in values if widget.elem_id == "gv-clip")
    values[clip] = str(first.path)
    values[button] = str(exports.saved_run([run], tmp_path))
    changes = event.fn(SimpleNamespace(session_hash="me"), values)
    names = {}
    for widget, value in changes.items():
        name = widget.elem_id or getattr(widget, "label", None) or type(widget).__name__
        names.setdefault(name, []).append(value)
    return names


def test_opening_a_run_of_an_unknown_clip_deselects_the_current_clip(page, tmp_path):
    engine, _, (first, _) = page
    changed = opened(page, run_of(engine, first.path, name="elsewhere.mp4"), tmp_path)
    assert changed["gv-clip"] == [None] and changed["gv-ready"] == [[]]
    said = [value["text"] for value in changed["HTML"]]
    (facts,) = changed["gv-status"]
    assert ("Tokens", "224 of 448") in facts
    assert said == [ELSEWHERE, ELSEWHERE]
    assert json.loads(changed["gv-a"][0])["name"] == "uniform"
    assert changed["gv-num-frames"] == [gr.skip()]


def test_opening_a_run_of_an_example_selects_that_example_and_stores_the_run(page, tmp_path):
    engine, _, (_, second) = page
    changed = opened(page, run_of(engine, second.path), tmp_path)
    assert changed["gv-clip"] == [str(second.path)]
    assert changed["gv-ready"] == [ready(second)] != [[]]
    assert changed["HTML"][0]["text"] == OPENED and changed["gv-num-frames"] == [8]
    ((run_id,),) = changed["State"][1:] if changed["State"][0] == [] else changed["State"][:1]
    assert engine.runs.example(run_id) == second
    assert engine.runs.path(run_id) == str(second.path)


def test_opened_run_matches_a_clip_by_frames_not_only_by_name(page, tmp_path):
    engine, _, (first, second) = page
    run = run_of(engine, second.path)
    path = exports.saved_run([run], tmp_path)
    paths = [str(first.path), str(second.path)]
    back, found = at_home(engine, opening.opened(str(path)), paths)
    assert found == paths[1] and back.video is engine.clip(paths[1], 8)
    other = run.video.frames.copy()
    other[0, 0, 0] += 1
    changed = replace(run, video=replace(run.video, frames=other))
    assert at_home(engine, changed, paths) == (changed, None)
    (tmp_path / "first.mp4").write_bytes(b"no clip any more")
    named = replace(run, video=replace(run.video, name="first.mp4"))
    assert at_home(engine, named, [str(tmp_path / "first.mp4")])[1] is None


def test_opened_run_of_another_model_warns_that_asking_uses_the_current_model(page, tmp_path):
    engine, _, (_, second) = page
    run = replace(run_of(engine, second.path), model="someone/Other-2B")
    changed = opened(page, run, tmp_path)
    said = changed["HTML"][0]["text"]
    (shown,) = changed["gv-tabs"]
    assert shown == gr.update(selected="Tokens")  # opening a run selects the Tokens tab
    assert said.startswith(OPENED) and "made with Other-2B. After a change of settings" in said
    (answer,) = changed["gv-tokens"][0]["answers"]
    assert answer["stale"] is True and answer["model"] == "Other-2B"
    (own,) = opened(page, run_of(engine, second.path), tmp_path)["gv-tokens"][0]["answers"]
    assert own["stale"] is False and "model" not in own


def test_one_visitor_cannot_block_exports_of_others(page):
    _, blocks, _ = page
    limits = [event.concurrency_limit for event in blocks.fns.values() if event.name == "write"]
    assert len(limits) == 1 and min(limits) > 2 * serving.PUBLIC.events
