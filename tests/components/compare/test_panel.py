from pathlib import Path
from types import SimpleNamespace

import pytest

from components.compare.comparing import Compared
from components.compare.panel import asked_with
from components.compare.rows import Asked, Row, table_view
from components.jobs.examples import Example
from components.tokens.answers import KNOWS_GLIMPSE


@pytest.fixture
def tab(plain_page):
    return next(fn.fn.__self__ for fn in plain_page.fns.values() if fn.name == "on_compare")


def changes_by_widget(tab, update):
    parts = {"notice": tab.notice, "table": tab.table}
    changes = tab.changes(update, Asked())
    return {name: changes[part] for name, part in parts.items() if part in changes}


def test_rows_appear_as_they_begin_and_a_finished_table_has_only_finished_ones(tab):
    begun = changes_by_widget(
        tab, Compared(rows=[Row("All tokens", state="running"), Row("Uniform 25 %")])
    )
    assert [row["state"] for row in begun["table"]["rows"]] == ["running", "waiting"]
    over = changes_by_widget(
        tab, Compared(rows=[Row("All tokens", state="done"), Row("late")], done=True)
    )
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
        by_key=lambda values: settings, question="question", example={clip: example}.get
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


def test_file_of_questions_is_read_without_clips_that_are_not_on_the_page(tab, tmp_path):
    panel, own = tab.questions, "/clips/own.mp4"
    file = tmp_path / "list.csv"
    rows = ("own.mp4,Where?,left;right,B", "clips/other.mp4,What?,a;b,b", "gone.mp4,Who?,a;b,a")
    file.write_text("\n".join(("clip,question,options,answer", *rows)))
    clip, shelf = panel.page.inputs.settings["clip"], panel.page.inputs.shelf
    values = {panel.file: str(file), clip: own, shelf: {"/up/other.mp4": ""}}
    changes = panel.on_file(values)
    assert changes[panel.listed] == [("Where?", "right", own), ("What?", "b", "/up/other.mp4")]
    assert "2 questions about 2 clips" in changes[panel.notice]["text"]
    file.write_text("clip,question\nown.mp4,Where?")
    refused = panel.on_file(values)[panel.notice]
    assert "must have the columns" in refused["text"] and str(tmp_path) not in refused["text"]
