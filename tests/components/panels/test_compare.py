"""The Compare tab: which table stands there, and what it says it was made with."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from components.panels.compare import asked_with, changes
from components.session.actions.compare import Compared
from components.session.actions.rows import Asked, Row, table_view
from components.session.display import KNOWS_GLIMPSE, message
from components.session.examples import Example

PANEL = SimpleNamespace(notice="notice", table="table", before="before")
SHARED = SimpleNamespace(
    runs="runs", status="status", viewer="viewer", working=lambda running: {"buttons": running}
)
BEFORE = {"rows": [{"label": "All tokens"}]}


def changed(update):
    return changes(SHARED, PANEL, update, Asked(), BEFORE)


def test_the_table_of_before_stays_where_nothing_came_of_a_new_one():
    begun = changed(Compared(rows=[Row("All tokens", state="running"), Row("Uniform 25 %")]))
    assert [row["state"] for row in begun["table"]["rows"]] == ["running", "waiting"]
    assert "before" not in begun
    stopped = changed(Compared(message("Stopped."), [], done=True))
    assert stopped["table"] == BEFORE | {"earlier": True} and "before" not in stopped
    assert stopped["buttons"] is False


def test_a_finished_table_is_the_one_that_stays_next_time():
    over = changed(Compared(rows=[Row("All tokens", state="done"), Row("late")], done=True))
    assert over["before"] == over["table"]
    assert [row["label"] for row in over["table"]["rows"]] == ["All tokens"]


def test_what_is_refused_before_it_begins_leaves_the_table_alone():
    refused = changed(Compared(message("Type a question first.", "problem"), done=True))
    assert set(refused) == {"notice", "buttons"}


def test_a_table_names_the_settings_that_it_hangs_on_and_no_others(tmp_path):
    """As the page's address names them: ``assets/results/compare.js`` compares the two."""
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
    shared = SimpleNamespace(
        named=lambda values: settings,
        question="question",
        examples={clip: example},
    )
    asked = asked_with(shared, {"question": "What moves?"}, ["gleanvid"])
    assert asked.settings == {
        "clip": "folder/square.mp4", "model": "builtin", "frames": 8, "gleanvid.tau": 4.0,
        "question": "What moves?",
    }  # fmt: skip
    assert (asked.clip, asked.expected) == ("square.mp4", "a square")
    other = asked_with(shared, {"question": "Why?"}, ["gleanvid"])
    assert other.expected is None and asked.caveat == other.caveat == ""
    settings["clip"] = str(tmp_path / "own.mp4")
    unknown = asked_with(shared, {"question": "Why?"}, ["gleanvid"])
    assert unknown.caveat == KNOWS_GLIMPSE
    assert table_view([Row("All tokens")], unknown)["asked"]["caveat"] == KNOWS_GLIMPSE
    settings["model"] = "real"
    assert asked_with(shared, {"question": "Why?"}, []).caveat == ""
