"""A link brings every setting back, and nothing that a widget could not say."""

from __future__ import annotations

import json
from pathlib import Path

import gradio as gr
import pytest

from components.panels import compare, link, query
from components.panels.settings import model as models
from components.panels.settings import panel
from components.server.serving import LOCAL
from components.session.examples import Example
from gleanvid import COMPRESSORS

TABS = ("Tokens", "Curves")
EXAMPLES = [Example(Path("/clips/square.mp4"), "Square", "What?")]


@pytest.fixture(scope="module")
def named():
    with gr.Blocks():
        model = models([("Tiny", "builtin")])
        settings, _ = panel(COMPRESSORS, "gleanvid", 0.25, model, LOCAL)
        question = gr.Textbox()
        clip, ratios = gr.Video(), compare.panel(COMPRESSORS).named()
    more = {"question": question, "a": gr.Textbox()}
    return {"clip": clip} | settings.named() | more | ratios


def said(named, **settings):
    """What a link changes, by name."""
    return query.valid(settings, named, EXAMPLES)


def test_a_link_copied_before_a_setting_was_renamed_still_sets_it(named):
    earlier = {"gleanvid.temperature": "2", "gleanvid.history": "3", "vcast.temperature": "2"}
    assert said(named, **earlier, temperature="0.5") == {
        "gleanvid.tau": 2,
        "gleanvid.novelty_history": 3,
        "vcast.temperature": 2,
        "temperature": 0.5,  # how the answer is sampled
    }


def test_valid_values_come_back_in_their_kind(named):
    settings = {
        "clip": "square.mp4",
        "frames": "16",
        "retention_ratio": "0.1",
        "compressor": "vidcom2",
        "gleanvid.alpha_min": "0.3",
        "question": "Why ${1+1}?",
        "seed": "7",
        "methods": "vidcom2,evil,uniform",
        "ratios": "0.1,0.25,7",
    }
    assert said(named, **settings) == {
        "clip": "/clips/square.mp4",
        "frames": 16,
        "retention_ratio": 0.1,
        "compressor": "vidcom2",
        "gleanvid.alpha_min": 0.3,
        "question": "Why ${1+1}?",
        "seed": 7,
        "methods": ["vidcom2", "uniform"],
        "ratios": [0.1, 0.25],
    }


@pytest.mark.parametrize(
    "settings",
    [
        {"clip": "../../etc/passwd"},
        {"frames": "9999"},
        {"frames": "nan"},
        {"retention_ratio": "-1"},
        {"compressor": "evil"},
        {"model": "someone/else"},
        {"seed": "many"},
        {"nothing": "1"},
        {"methods": "evil,full", "ratios": "2"},
    ],
)
def test_what_a_widget_could_not_say_changes_nothing(named, settings):
    assert said(named, **settings) == {}
    ours = {name: text for name, text in settings.items() if name != "nothing"}
    assert query.unread(settings, named, EXAMPLES, TABS) == ours


def test_what_a_link_says_that_nothing_here_could_is_named_in_one_line(named):
    wrong = {
        "retention_ratio": "9",
        "compressor": "other",
        "clip": "gone.mp4",
        "methods": "vidcom2,evil",
        "a": "{broken",
        "tab": "Else",
        "view": "none",
        "gleanvid.new": "1",
    }
    right = {"frames": "16", "gleanvid.temperature": "2", "tab": "Curves", "view": "heat"}
    others = {"utm_source": "mail", "__theme": "dark"}
    assert query.unread(right | others | {"seed": ""}, named, EXAMPLES, TABS) == {}
    found = query.unread(others | {"frames": "16"} | wrong, named, EXAMPLES, TABS)
    assert found == wrong
    value = query.unread_value({"retention_ratio": "9", "clip": "x" * 99})
    assert value["names"] == ["retention_ratio", "clip"]
    assert "retention ratio “9”, clip “xxx" in value["text"] and len(value["text"]) < 120
    assert query.unread_value({}) == {"text": "", "names": []}


def test_every_widget_writes_its_own_name_default_and_nothing_else(named):
    for name, widget in named.items():
        script = link.writer(name, widget.value)
        assert f'"{name}"' in script and json.dumps(widget.value) in script
        assert not any(word in script for word in ("NAME", "DEFAULT"))


def test_the_page_knows_key_and_default_of_what_comes_together(named):
    inner = gr.Checkbox(True)
    script = link.defaults_script([named["seed"], inner, named["compressor"]], named, EXAMPLES)
    assert '["clips/square.mp4"]' in script
    assert '[["seed", 0], [null, true], ["compressor", "gleanvid"]]' in script
