"""What Gradio may lose or reorder is kept out of its way."""

from __future__ import annotations

import gradio as gr
import pytest

import tests.components.fake as fake
from components.panels.page import build_app
from components.panels.shared import or_nothing
from components.session.engine import Engine

SKIP = gr.skip()


@pytest.fixture(scope="module")
def events():
    return list(build_app(Engine(fake.Library())).fns.values())


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
