from __future__ import annotations

from types import SimpleNamespace

import gradio as gr
import pytest

import tests.components.fake as fake
from components.panels.events import or_nothing
from components.panels.page import build_app
from components.panels.previews import Previews
from components.session.actions import preview
from components.session.actions.ask import Habits, ask
from components.session.display import PageUpdate
from components.session.request import Request, Sides
from components.session.work.engine import Engine

SKIP = gr.skip()
ON, OFF = ({"interactive": on, "__type__": "update"} for on in (True, False))


@pytest.fixture(scope="module")
def events():
    return list(build_app(Engine(fake.FakeBackend())).fns.values())


def test_previews_use_one_event_outside_the_queue(events):
    (shown,) = (event for event in events if event.name == "on_preview")
    (follow,) = (event for event in events if event.name == "on_follow")
    assert shown.queue is False and follow.queue is True
    causes = [event.js for event in events if str(event.js).startswith("gleanvid.preview(")]
    assert len(causes) > 5 and set(causes) == {"gleanvid.preview(true)", "gleanvid.preview(false)"}


def test_events_outside_the_queue_may_run_several_times_at_once(events):
    private = [event for event in events if event.fn and event.api_visibility == "private"]
    at_once = [event for event in private if event.queue is False]
    assert len(at_once) > 15
    assert {event.trigger_mode for event in at_once} == {"multiple"}


@pytest.mark.parametrize(
    ("changes", "yielded"),
    [([], [SKIP]), ([{}, {}], [SKIP]), ([{"a": 1}, {}, {"b": 2}], [{"a": 1}, {"b": 2}])],
)
def test_empty_updates_are_dropped_unless_there_is_no_other_update(changes, yielded):
    """Gradio empties the outputs of a generator that yields nothing."""
    assert list(or_nothing(changes)) == yielded


@pytest.mark.parametrize("busy", [False, True])
def test_preview_enables_its_stop_button_only_if_no_other_work_is_running(busy, monkeypatch):
    waiting = [PageUpdate(stoppable=True), PageUpdate()]
    monkeypatch.setattr(preview, "preview", lambda *given: iter(waiting))
    page = SimpleNamespace(
        engine=SimpleNamespace(pages=SimpleNamespace(has=lambda session: busy)),
        outputs=SimpleNamespace(changes=lambda update, version: {}),
        stop="stop",
        problem="problem",
        changes=lambda *given: Previews.changes(page, *given),
    )
    request = SimpleNamespace(make_compressor=lambda: None)
    changed = [change.get("stop") for change in Previews.updates(page, "me", request, Sides())]
    assert changed == ([None, None] if busy else [ON, OFF])


def test_slow_answer_does_not_turn_off_live_answers(events):
    """Regression: after sides A and B were swapped, a slow answer turned live answers off."""
    (follow,) = (event for event in events if event.name == "on_follow")
    assert follow.fn.__self__.live not in follow.outputs


def test_answer_with_all_tokens_is_not_used_to_judge_whether_live_answers_are_slow(tmp_path):
    fake.write_clip(tmp_path / "clip.mp4")
    engine = Engine(fake.FakeBackend(words=2))
    engine.pages.start("me")
    request = Request(str(tmp_path / "clip.mp4"), 8, "builtin", "full")
    list(ask(engine, "me", request, Sides(question="What moves?"), Habits(both=False)))
    assert engine.answer_s == {}
