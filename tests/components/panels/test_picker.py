from __future__ import annotations

from types import SimpleNamespace

import gradio as gr
import pytest

from components.panels import picker
from components.panels.picker import ModelPicker
from components.session.choice.choosing import Choosing, Progress
from components.session.work.engine import Engine
from gleanvid.errors import ModelError, UnreachableError
from tests.components.fake import FakeBackend


def panel_of(choosing):
    with gr.Blocks():
        menu = gr.Dropdown([("Built-in", "builtin")], value="builtin")
        panel = ModelPicker(choosing, picker.button(), menu)
        panel.frames, panel.notice = gr.Slider(4, 32), gr.HTML()
    return panel


@pytest.fixture
def panel():
    return panel_of(Choosing(Engine(FakeBackend()), device="cpu"))


def inspected(panel, name):
    """Choose a model to see its size; return (message, is Load enabled) for each update."""
    values = {panel.name: name, panel.precision: "auto", panel.frames: 32}
    stages = panel.on_look(values)
    return [(stage[panel.outlook], stage[panel.load]["interactive"]) for stage in stages]


@pytest.mark.parametrize(
    ("error", "enabled"),
    [(UnreachableError("No hub: give a folder."), False), (ModelError("It is gated."), True)],
)
def test_load_button_is_disabled_if_the_hub_does_not_answer(panel, monkeypatch, error, enabled):
    def look(*_):
        raise error

    monkeypatch.setattr(panel.choosing, "look", look)
    assert inspected(panel, "a/b") == [("Looking up a/b …", False), (str(error), enabled)]


def test_load_button_is_enabled_once_the_model_s_size_is_known(panel, monkeypatch):
    monkeypatch.setattr(panel.choosing, "look", lambda *_: SimpleNamespace(text="2 GB"))
    assert inspected(panel, "a/b") == [("Looking up a/b …", False), ("2 GB", True)]
    assert inspected(panel, " ") == [("", False)]


def test_message_about_one_model_is_cleared_when_another_model_is_typed(panel, monkeypatch):
    monkeypatch.setattr(panel.choosing, "look", lambda *_: SimpleNamespace(text="2 GB"))
    values = {panel.name: "a/b", panel.precision: "auto", panel.frames: 32}
    assert next(panel.on_look(values))[panel.bar] == {}
    panel.choosing.now = Progress("loading", "a/b", "Loading a/b")
    assert panel.bar not in next(panel.on_look(values))


@pytest.mark.parametrize("address", ["https://huggingface.co/a/b", " https://huggingface.co/a/b/ "])
def test_web_address_of_a_hub_model_is_accepted_in_place_of_its_id(panel, monkeypatch, address):
    monkeypatch.setattr(panel.choosing, "look", lambda name, *_: SimpleNamespace(text=name))
    assert inspected(panel, address) == [("Looking up a/b …", False), ("a/b", True)]


def test_model_loaded_by_one_visitor_can_be_chosen_on_every_page(panel, monkeypatch):
    monkeypatch.setattr(Engine, "holds", lambda *_: True)
    monkeypatch.setattr(Engine, "model", lambda *_: None)
    panel.choosing.begin("a/b")
    list(panel.choosing.progress())
    assert panel.choosing.choices == [("Built-in", "builtin"), ("a/b", "a/b")]
    assert panel.menu.preprocess("a/b") == "a/b"
