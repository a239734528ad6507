"""Controls say what the compressors declare, and hand back what they were set to."""

from __future__ import annotations

import gradio as gr
import pytest

from components.panels import controls
from gleanvid import COMPRESSORS
from gleanvid.compressors.base import declared_settings


@pytest.fixture(scope="module")
def panel():
    with gr.Blocks():
        return controls.panel(COMPRESSORS, "gleanvid")


def values(panel, name: str, **changed):
    """What the widgets send once ``name`` is chosen and some of its settings are changed."""
    fields = [
        changed.get(setting, widget.value) if method == name else widget.value
        for (method, setting), widget in panel.fields.items()
    ]
    return [name, changed.get("retention_ratio", panel.ratio.value), *fields]


@pytest.mark.parametrize("name", COMPRESSORS)
def test_every_declared_setting_has_one_widget_that_begins_at_its_default(panel, name):
    for setting, (default, _, declared) in declared_settings(COMPRESSORS[name]).items():
        if setting == controls.SHARED:
            continue
        widget = panel.fields[name, setting]
        assert widget.value == default
        assert widget.info == declared.help
        if isinstance(widget, gr.Slider):
            assert (widget.maximum, widget.step) == (declared.high, declared.step)
            assert declared.accepts(widget.minimum, float)


@pytest.mark.parametrize("name", COMPRESSORS)
def test_untouched_controls_make_the_default_compressor(panel, name):
    made = controls.chosen(COMPRESSORS, list(panel.fields), values(panel, name))
    assert made == COMPRESSORS[name]()


def test_changed_controls_reach_the_compressor(panel):
    sent = values(panel, "gleanvid", retention_ratio=0.1, alpha_min=0.3, novelty_history=2.0)
    made = controls.chosen(COMPRESSORS, list(panel.fields), sent)
    assert made == COMPRESSORS["gleanvid"](retention_ratio=0.1, alpha_min=0.3, novelty_history=2)
    assert isinstance(made.novelty_history, int)


@pytest.mark.parametrize(
    "wrong",
    [{"alpha_min": 0.9, "alpha_max": 0.1}, {"tau": 0.0}, {"tau": None}],
)
def test_a_bad_setting_is_named(panel, wrong):
    sent = values(panel, "gleanvid", **wrong)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        controls.chosen(COMPRESSORS, list(panel.fields), sent)


@pytest.mark.parametrize("name", COMPRESSORS)
def test_only_the_chosen_method_shows_its_settings(name):
    ratio, *groups = controls.show(COMPRESSORS, name)
    assert [group["visible"] for group in groups] == [other == name for other in COMPRESSORS]
    assert ratio["visible"] == (name != "full")
