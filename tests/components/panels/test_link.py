"""A link brings every setting back, and nothing that a widget could not say."""

from __future__ import annotations

import json
from pathlib import Path

import gradio as gr
import pytest

from components.panels import compare, link
from components.panels.settings import model as models
from components.panels.settings import panel
from components.server.serving import LOCAL
from components.session.examples import Example
from gleanvid import COMPRESSORS

EXAMPLES = [Example(Path("/clips/square.mp4"), "Square", "What?")]


@pytest.fixture(scope="module")
def named():
    with gr.Blocks():
        model = models([("Tiny", "builtin")])
        settings, _ = panel(COMPRESSORS, "gleanvid", 0.25, model, LOCAL)
        question = gr.Textbox()
        clip, ratios = gr.Video(), compare.panel(COMPRESSORS).named()
    return {"clip": clip} | settings.named() | {"question": question} | ratios


def said(named, **query):
    """What a link changes, by name."""
    return link.valid(query, named, EXAMPLES)


def test_a_link_copied_before_a_setting_was_renamed_still_sets_it(named):
    earlier = {"gleanvid.temperature": "2", "gleanvid.history": "3", "vcast.temperature": "2"}
    assert said(named, **earlier, temperature="0.5") == {
        "gleanvid.tau": 2,
        "gleanvid.novelty_history": 3,
        "vcast.temperature": 2,
        "temperature": 0.5,  # how the answer is sampled
    }


def test_valid_values_come_back_in_their_kind(named):
    query = {
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
    assert said(named, **query) == {
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
    "query",
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
def test_what_a_widget_could_not_say_changes_nothing(named, query):
    assert said(named, **query) == {}


def test_every_widget_writes_its_own_name_default_and_nothing_else(named):
    for name, widget in named.items():
        script = link.writer(name, widget.value)
        assert f'"{name}"' in script and json.dumps(widget.value) in script
        assert not any(word in script for word in ("NAME", "DEFAULT"))


def test_the_page_knows_key_and_default_of_what_comes_together(named):
    inner = gr.Checkbox(True)
    script = link.defaults_script([named["seed"], inner, named["compressor"]], named)
    assert '[["seed", 0], [null, true], ["compressor", "gleanvid"]]' in script
