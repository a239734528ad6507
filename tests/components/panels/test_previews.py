"""What Gradio may lose or reorder is kept out of its way."""

from __future__ import annotations

from types import SimpleNamespace

import gradio as gr
import pytest

import tests.components.fake as fake
from components.panels.page import build_app
from components.panels.shared import Previews, Shared, or_nothing
from components.session.actions import preview as sides
from components.session.display import PageUpdate
from components.session.request import Sides
from components.session.work.engine import Engine

SKIP = gr.skip()
ON, OFF = ({"interactive": on, "__type__": "update"} for on in (True, False))


@pytest.fixture(scope="module")
def events():
    return list(build_app(Engine(fake.FakeBackend())).fns.values())


def test_a_preview_is_no_event_of_the_queue(events):
    previews = [event for event in events if event.name == "on_preview"]
    assert len(previews) > 5
    assert {event.queue for event in previews} == {False}
    assert {event.queue for event in events if event.name == "on_late"} == {True}


def test_no_event_outside_the_queue_is_skipped_for_the_one_before(events):
    private = [event for event in events if event.fn and event.api_visibility == "private"]
    at_once = [event for event in private if event.queue is False]
    assert len(at_once) > 20
    assert {event.trigger_mode for event in at_once} == {"multiple"}


@pytest.mark.parametrize(
    ("changes", "yielded"),
    [([], [SKIP]), ([{}, {}], [SKIP]), ([{"a": 1}, {}, {"b": 2}], [{"a": 1}, {"b": 2}])],
)
def test_nothing_is_said_only_where_there_is_nothing_to_say(changes, yielded):
    """A last word that takes back would erase the words before it: see Previews."""
    assert list(or_nothing(changes)) == yielded


def test_of_several_buttons_that_stop_something_one_works():
    page = SimpleNamespace(starters=("ask", "compare"), stoppers=("stop", "stop comparing"))
    working = Shared.working(page, True, "stop comparing")
    assert working == {"ask": OFF, "compare": OFF, "stop": OFF, "stop comparing": ON}
    assert Shared.working(page, False) == {
        "ask": ON,
        "compare": ON,
        "stop": OFF,
        "stop comparing": OFF,
    }


@pytest.mark.parametrize("busy", [False, True])
def test_a_preview_beside_other_work_brings_no_second_stop(busy, monkeypatch):
    waiting = [PageUpdate(stoppable=True), PageUpdate()]
    monkeypatch.setattr(sides, "preview", lambda *given: iter(waiting))
    engine = SimpleNamespace(pages=SimpleNamespace(busy=lambda page: busy))
    shared = SimpleNamespace(changes=lambda update, turn: {})
    asked = SimpleNamespace(make_compressor=lambda: None)
    page = SimpleNamespace(engine=engine, shared=shared, stop="stop", problem="problem")
    changed = [change.get("stop") for change in Previews.changes(page, "me", asked, Sides())]
    assert changed == ([None, None] if busy else [ON, OFF])
