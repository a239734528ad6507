"""The settings of a page come as one value from its browser, which may send anything."""

from __future__ import annotations

import math
from types import SimpleNamespace

import gradio as gr
import pytest

from components.panels.method_settings import MethodSettings
from components.panels.shared import Packed, Shared


@pytest.fixture
def packed():
    with gr.Blocks():
        share = gr.Slider(0.05, 1.0, value=0.1)
        model = gr.Dropdown([("Built-in", "builtin")], value="builtin")
        return Packed([share, model, gr.Textbox("What?"), gr.Checkbox(True)])


def test_every_widget_has_its_value(packed):
    values = [0.25, "builtin", "Why?", False]
    assert list(packed.read([*values, 7]).values()) == values
    assert packed.turn([*values, 7]) == 7


@pytest.mark.parametrize(
    "values",
    [
        None,
        [],
        "builtin",
        {"model": "builtin"},
        [0.25, "builtin", "Why?", 1],
        [0.25, "builtin", "Why?", False, 1, 1],
        ["a", "builtin", "Why?", False, 1],
        [0.25, "other/model", "Why?", False, 1],
        [0.25, ["builtin", "other"], "Why?", False, 1],
        [0.25, ["builtin"], "Why?", False, 1],
        [0.25, [], "Why?", False, 1],
        [0.25, None, "Why?", False, 1],
        [[0.25], "builtin", "Why?", False, 1],
    ],
)
def test_what_no_widget_would_send_is_refused(packed, values):
    with pytest.raises(gr.Error):
        packed.read(values)


@pytest.mark.parametrize(
    ("typed", "taken"), [(0, 0.05), (2.0, 1.0), (-1e300, 0.05), (None, 0.1), (math.nan, 0.1)]
)
def test_a_number_is_taken_as_its_box_will_put_it(packed, typed, taken):
    assert next(iter(packed.read([typed, "builtin", "Why?", False, 1]).values())) == taken


def test_settings_of_methods_cannot_pass_for_others():
    """A page may send any name: it sets no clip and no model."""
    with gr.Blocks():
        part = MethodSettings(fields={"gleanvid.tau": {}}, shown={}, method="gleanvid")
        model = gr.Dropdown([("Built-in", "builtin")], value="builtin")
    page = SimpleNamespace(settings={"model": model}, parts=[part], defaults={"gleanvid.tau": 4.0})
    sent = {"gleanvid.tau": 2, "model": "evil", "clip": "/etc/passwd"}
    named = Shared.named(page, {model: "builtin", part: sent})
    assert named == {"gleanvid.tau": 2, "model": "builtin"}
