"""The tab Compare: which table is shown, and the settings that it names."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

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
    """The tab Compare of a complete page."""
    blocks = build_app(Engine(FakeBackend()))
    return next(fn.fn.__self__ for fn in blocks.fns.values() if fn.name == "on_compare")


def changed(tab, update):
    """The changes of an update, by the name of the widget."""
    parts = {"notice": tab.notice, "table": tab.table, "before": tab.before}
    changes = tab.changes(update, Asked(), BEFORE)
    return {name: changes[part] for name, part in parts.items() if part in changes}


def test_cancelled_comparison_keeps_previous_table(tab):
    begun = changed(tab, Compared(rows=[Row("All tokens", state="running"), Row("Uniform 25 %")]))
    assert [row["state"] for row in begun["table"]["rows"]] == ["running", "waiting"]
    assert "before" not in begun
    stopped = changed(tab, Compared(message("Stopped."), [], done=True))
    assert stopped["table"] == BEFORE | {"earlier": True} and "before" not in stopped


def test_finished_table_is_the_one_kept_next_time(tab):
    over = changed(tab, Compared(rows=[Row("All tokens", state="done"), Row("late")], done=True))
    assert over["before"] == over["table"]
    assert [row["label"] for row in over["table"]["rows"]] == ["All tokens"]


def test_refused_comparison_leaves_the_table_alone(tab):
    refused = changed(tab, Compared(message("Type a question first.", "problem"), done=True))
    assert set(refused) == {"notice"}


def test_table_names_exactly_the_settings_that_it_depends_on(tmp_path):
    """By their names in a link, which ``assets/results/compare.js`` compares."""
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
        by_key=lambda values: settings,
        question="question",
        examples={clip: example},
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
