import pytest

import tests.components.fake as fake
from components.jobs.engine import Engine
from components.jobs.request import Request, Sides
from components.tokens.ask import ask


@pytest.fixture
def events(plain_page):
    return list(plain_page.fns.values())


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


def test_answer_with_all_tokens_is_not_used_to_judge_whether_live_answers_are_slow(tmp_path):
    fake.write_clip(tmp_path / "clip.mp4")
    engine = Engine(fake.FakeBackend(words=2))
    engine.pages.start("me")
    request = Request(str(tmp_path / "clip.mp4"), 8, "builtin", "full")
    list(ask(engine, "me", request, Sides(question="What moves?"), both=False))
    assert engine.answer_s == {}
