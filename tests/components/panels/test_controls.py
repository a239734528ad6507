"""Controls say what the compressors declare, and hand back what they were set to."""

from __future__ import annotations

import gradio as gr
import pytest

from components.panels import controls
from components.session.request import RATIO, chosen
from gleanvid import COMPRESSORS
from gleanvid.compressors.base import declared_settings


@pytest.fixture(scope="module")
def panel():
    with gr.Blocks():
        return controls.panel(COMPRESSORS, "gleanvid")


def made(panel, name, **changed):
    """The compressor once ``name`` is chosen and some of its settings are changed."""
    fields = {key: item.value for (method, key), item in panel.fields.items() if method == name}
    return chosen(COMPRESSORS, name, fields | {RATIO: panel.ratio.value} | changed)


@pytest.mark.parametrize("name", COMPRESSORS)
def test_every_declared_setting_has_one_widget_that_begins_at_its_default(panel, name):
    for setting, (default, _, declared) in declared_settings(COMPRESSORS[name]).items():
        if setting == RATIO:
            continue
        widget = panel.fields[name, setting]
        assert widget.value == default
        assert widget.info == declared.help
        if isinstance(widget, gr.Slider):
            assert (widget.maximum, widget.step) == (declared.high, declared.step)
            assert declared.accepts(widget.minimum, float)


@pytest.mark.parametrize("name", COMPRESSORS)
def test_untouched_controls_make_the_default_compressor(panel, name):
    assert made(panel, name) == COMPRESSORS[name]()


def test_changed_controls_reach_the_compressor(panel):
    changed = made(panel, "gleanvid", retention_ratio=0.1, alpha_min=0.3, novelty_history=2.0)
    assert changed == COMPRESSORS["gleanvid"](retention_ratio=0.1, alpha_min=0.3, novelty_history=2)
    assert isinstance(changed.novelty_history, int)


@pytest.mark.parametrize(
    "wrong",
    [{"alpha_min": 0.9, "alpha_max": 0.1}, {"tau": 0.0}, {"tau": None}],
)
def test_a_bad_setting_is_named(panel, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        made(panel, "gleanvid", **wrong)


@pytest.mark.parametrize("name", COMPRESSORS)
def test_only_the_chosen_method_shows_its_settings(panel, name):
    changes = controls.method_changes(panel, name)
    for other, group in panel.groups.items():
        assert changes[group]["visible"] == (other == name)
    assert changes[panel.ratio]["visible"] == (name != "full")
