"""The server refuses or clamps values that no widget of the page can send."""

import math
from types import SimpleNamespace

import gradio as gr
import pytest

from components.widgets.gathered import Gathered
from components.widgets.method_settings import MethodSettings
from components.widgets.page_state import Inputs, Outputs


@pytest.fixture(scope="module")
def gathered():
    with gr.Blocks():
        share = gr.Slider(0.05, 1.0, value=0.1)
        model = gr.Dropdown([("Built-in", "builtin")], value="builtin")
        return Gathered([share, model, gr.Textbox("What?"), gr.Checkbox(True)])


def test_values_sent_by_the_page_are_matched_to_their_widgets_in_order(gathered):
    values = [0.25, "builtin", "Why?", False]
    sent = {"values": values, "version": 7, "live": True}
    assert list(gathered.read(sent).values()) == values
    assert gathered.version(sent) == 7 and gathered.is_live(sent)


@pytest.mark.parametrize(
    "values",
    [
        None,
        {"model": "builtin"},
        [0.25, "builtin", "Why?"],
        ["a", "builtin", "Why?", False],
        [0.25, "other/model", "Why?", False],
        [0.25, ["builtin"], "Why?", False],
    ],
)
def test_values_that_no_widget_can_send_are_refused(gathered, values):
    for sent in (values, {"values": values}):
        with pytest.raises(gr.Error):
            gathered.read(sent)


@pytest.mark.parametrize(
    ("typed", "taken"), [(0, 0.05), (2.0, 1.0), (-1e300, 0.05), (None, 0.1), (math.nan, 0.1)]
)
def test_number_out_of_range_is_clamped_and_other_values_become_the_default(gathered, typed, taken):
    assert (
        next(iter(gathered.read({"values": [typed, "builtin", "Why?", False]}).values())) == taken
    )


def test_settings_of_a_method_cannot_overwrite_clip_or_model():
    """A page may send any setting name; the names ``clip`` and ``model`` must have no effect."""
    with gr.Blocks():
        part = MethodSettings(fields={"gleanvid.tau": {}}, shown={}, method="gleanvid")
        model = gr.Dropdown([("Built-in", "builtin")], value="builtin")
    page = SimpleNamespace(settings={"model": model}, parts=[part], defaults={"gleanvid.tau": 4.0})
    sent = {"gleanvid.tau": 2, "model": "evil", "clip": "/etc/passwd"}
    found = Inputs.by_key(page, {model: "builtin", part: sent})
    assert found == {"gleanvid.tau": 2, "model": "builtin"}


def test_only_the_stop_button_of_the_running_work_is_enabled():
    page = SimpleNamespace(starters=("ask", "compare"), stoppers=("stop", "stop comparing"))
    on, off = ({"interactive": value, "__type__": "update"} for value in (True, False))
    working = Outputs.working(page, True, "stop comparing")
    assert working == {"ask": off, "compare": off, "stop": off, "stop comparing": on}
    assert set(Outputs.working(page, False)) == {"ask", "compare", "stop", "stop comparing"}
