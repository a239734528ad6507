"""A link brings every setting back, and nothing that a widget could not say."""

from __future__ import annotations

from pathlib import Path

import gradio as gr
import pytest

from components import link
from components.clip import Example
from components.settings import panel
from gleanvid import COMPRESSORS

EXAMPLES = [Example(Path("/clips/square.mp4"), "Square", "What?")]


@pytest.fixture(scope="module")
def named():
    with gr.Blocks():
        start = {"model": "builtin", "compressor": "gleanvid"}
        settings = panel(COMPRESSORS, [("Tiny", "builtin")], 64, start)
        question = gr.Textbox()
    return {"clip": gr.Video()} | settings.named() | {"question": question}


def said(named, **query):
    """What a link changes, by name."""
    found = link.restored(query, named, EXAMPLES)
    pairs = zip(named, found, strict=True)
    return {name: value for name, value in pairs if value != gr.skip()}


def test_valid_values_come_back_in_their_kind(named):
    query = {
        "clip": "square.mp4",
        "frames": "16",
        "retention_ratio": "0.1",
        "compressor": "vidcom2",
        "gleanvid.alpha_min": "0.3",
        "question": "Why ${1+1}?",
        "seed": "7",
    }
    assert said(named, **query) == {
        "clip": "/clips/square.mp4",
        "frames": 16,
        "retention_ratio": 0.1,
        "compressor": "vidcom2",
        "gleanvid.alpha_min": 0.3,
        "question": "Why ${1+1}?",
        "seed": 7,
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
    ],
)
def test_what_a_widget_could_not_say_changes_nothing(named, query):
    assert said(named, **query) == {}


def test_the_script_names_every_widget(named):
    script = link.writer(named, EXAMPLES)
    assert '"gleanvid.alpha_min"' in script and '"square.mp4"' in script
    assert not any(word in script for word in ("NAMES", "DEFAULTS", "CLIPS"))
