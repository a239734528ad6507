from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from components.panels import questions
from components.panels.compare import asked_with
from components.panels.page import build_app
from components.session.actions.compare import Compared
from components.session.actions.rows import Asked, Row, table_view
from components.session.answers import KNOWS_GLIMPSE
from components.session.display import message
from components.session.examples import Example
from components.session.work.engine import Engine
from tests.components.fake import FakeBackend

BEFORE = {"rows": [{"label": "All tokens"}]}


@pytest.fixture(scope="module")
def tab():
    blocks = build_app(Engine(FakeBackend()))
    return next(fn.fn.__self__ for fn in blocks.fns.values() if fn.name == "on_compare")


def changes_by_widget(tab, update):
    parts = {"notice": tab.notice, "table": tab.table, "before": tab.before}
    changes = tab.changes(update, Asked(), BEFORE)
    return {name: changes[part] for name, part in parts.items() if part in changes}


def test_cancelled_comparison_keeps_previous_table(tab):
    begun = changes_by_widget(
        tab, Compared(rows=[Row("All tokens", state="running"), Row("Uniform 25 %")])
    )
    assert [row["state"] for row in begun["table"]["rows"]] == ["running", "waiting"]
    assert "before" not in begun
    stopped = changes_by_widget(tab, Compared(message("Stopped."), [], done=True))
    assert stopped["table"] == BEFORE | {"earlier": True} and "before" not in stopped


def test_finished_table_is_stored_to_be_restored_if_the_next_comparison_is_cancelled(tab):
    over = changes_by_widget(
        tab, Compared(rows=[Row("All tokens", state="done"), Row("late")], done=True)
    )
    assert over["before"] == over["table"]
    assert [row["label"] for row in over["table"]["rows"]] == ["All tokens"]


def test_comparison_table_stores_only_the_settings_that_affect_its_rows(tmp_path):
    """``compare.js`` expects the names that settings have in links."""
    clip = str(tmp_path / "folder" / "square.mp4")
    example = Example(Path(clip), "Square", "What moves?", (("What moves?", "a square"),))
    settings = {
        "clip": clip,
        "model": "builtin",
        "frames": 8,
        "compressor": "vcast",
        "retention_ratio": 0.1,
    }
    settings |= {"gleanvid.tau": 4.0, "vcast.window": 3}
    inputs = SimpleNamespace(
        by_key=lambda values: settings, question="question", examples={clip: example}
    )
    asked = asked_with(inputs, {"question": "What moves?"}, ["gleanvid"])
    assert asked.settings == {
        "clip": "folder/square.mp4", "model": "builtin", "frames": 8, "gleanvid.tau": 4.0,
        "question": "What moves?",
    }  # fmt: skip
    assert (asked.clip, asked.expected) == ("square.mp4", "a square")
    other = asked_with(inputs, {"question": "Why?"}, ["gleanvid"])
    assert other.expected is None and asked.caveat == other.caveat == ""
    settings["clip"] = str(tmp_path / "own.mp4")
    unknown = asked_with(inputs, {"question": "Why?"}, ["gleanvid"])
    assert unknown.caveat == KNOWS_GLIMPSE
    assert table_view([Row("All tokens")], unknown)["asked"]["caveat"] == KNOWS_GLIMPSE
    settings["model"] = "real"
    assert asked_with(inputs, {"question": "Why?"}, []).caveat == ""


@pytest.mark.parametrize(
    ("text", "is_recording", "why"),
    [
        ("Other?\nWhere?", False, ""),
        ("Other?", True, questions.RECORDED),
        ("What?\nWhere?", True, ""),
        ("What?\n" * 17, False, "17 questions"),
    ],
)
def test_invalid_list_of_questions_is_refused_with_a_reason(tab, text, is_recording, why):
    panel, own = tab.questions, "/clips/own.mp4"
    known = [("Other?", None, "other.mp4")]
    values = {panel.box: text, panel.known: known, panel.clip: own}
    values |= {panel.shelf: {"/up/other.mp4": ""}}
    found = panel.refusal(values, is_recording)
    assert found.startswith(why) and bool(found) == bool(why)


def test_questions_of_a_list_are_grouped_by_clip(tab):
    panel = tab.questions
    known = [("A?", None, "other.mp4"), ("C?", "c", "other.mp4"), ("D?", None, "own.mp4")]
    values = {panel.box: "A?\nB?\nC?\nD?", panel.known: known}
    values |= {panel.clip: "/clips/own.mp4", panel.shelf: {"/up/other.mp4": ""}}
    assert panel.listed(values) == [
        ("B?", None, "/clips/own.mp4"),
        ("D?", None, "/clips/own.mp4"),
        ("A?", None, "/up/other.mp4"),
        ("C?", "c", "/up/other.mp4"),
    ]
