import gradio as gr
import pytest

from components.jobs.engine import Engine
from components.models import offers, picker
from components.models.choosing import Choosing
from components.models.picker import ModelPicker
from tests.components.fake import FakeBackend


def panel_of(choosing):
    with gr.Blocks():
        menu = gr.Dropdown([("Built-in", "builtin")], value="builtin")
        panel = ModelPicker(choosing, picker.button(), menu)
        panel.frames, panel.notice = gr.Slider(4, 32), gr.HTML()
    return panel


def test_offer_names_a_loaded_model_or_the_recommended_one_with_size_and_seconds(monkeypatch):
    monkeypatch.setattr("gleanvid.models.loading.fit._flops", lambda: 1e11)
    label, name = offers.to_ask(["builtin", "mobilenet_v2", "recording:a"], 32, "cpu")
    assert label == "Load SmolVLM2 256M (0.5 GB, about 80 s an answer here)"
    assert name == "HuggingFaceTB/SmolVLM2-256M-Video-Instruct"
    assert offers.to_ask(["builtin", "a/b"], 32, "cpu") == ("Ask with b", "a/b")


@pytest.mark.parametrize("typed", [" a/b ", "https://huggingface.co/a/b/"])
def test_loaded_model_can_be_chosen_on_every_page(monkeypatch, typed):
    panel = panel_of(Choosing(Engine(FakeBackend()), device="cpu"))
    monkeypatch.setattr(Engine, "holds", lambda *_: True)
    monkeypatch.setattr(Engine, "model", lambda *_: None)
    *_, last = panel.on_load({panel.name: typed, panel.frames: 32})
    assert last[panel.menu]["value"] == "a/b" and last[panel.bar]["text"] == "a/b is ready."
    assert panel.choosing.choices == [("Built-in", "builtin"), ("a/b", "a/b")]
    assert panel.menu.preprocess("a/b") == "a/b"
    (problem,) = panel.on_load({panel.name: " ", panel.frames: 32})
    assert problem[panel.bar]["failed"]
