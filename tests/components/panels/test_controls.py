"""Controls say what the compressors declare, and hand back what they were set to."""

from __future__ import annotations

import gradio as gr
import pytest
import torch

from components.panels import controls
from components.session.request import AUTO, RATIO, chosen
from gleanvid import COMPRESSORS
from gleanvid.compressors.base import declared_settings
from gleanvid.types import Compression


@pytest.fixture(scope="module")
def panel():
    with gr.Blocks():
        method = controls.choice(COMPRESSORS, "gleanvid")
        ratio = controls.budget(COMPRESSORS["gleanvid"], 0.25)
        parts = [shown(COMPRESSORS, "gleanvid") for shown in (controls.in_the_open, controls.more)]
        return controls.Controls(method, ratio, parts, controls.problem())


def made(panel, name, **changed):
    """The compressor once ``name`` is chosen and some of its settings are changed."""
    own = {key.removeprefix(f"{name}."): item.value for key, item in panel.named().items()}
    for setting in changed:
        own.pop(f"{setting}.{AUTO}", None)
    return chosen(COMPRESSORS, name, own | changed)


@pytest.mark.parametrize("name", COMPRESSORS)
def test_every_declared_setting_has_one_widget_that_begins_at_its_default(panel, name):
    for setting, (default, _, declared) in declared_settings(COMPRESSORS[name]).items():
        if setting == RATIO:
            continue
        widget = panel.fields[name, setting]
        assert widget.value == (declared.start if default is None else default)
        assert widget.info == declared.help
        if default is None:
            assert panel.switches[name, setting].value is True and not widget.visible


@pytest.mark.parametrize("name", COMPRESSORS)
def test_every_number_but_a_seed_is_a_slider_with_ends_its_method_takes(panel, name):
    for setting, (_, kind, declared) in declared_settings(COMPRESSORS[name]).items():
        if setting in (RATIO, "seed") or kind in (bool, str):
            continue
        widget = panel.fields[name, setting]
        assert isinstance(widget, gr.Slider), setting
        assert widget.maximum == declared.high
        assert declared.accepts(widget.minimum, kind) and declared.accepts(widget.maximum, kind)
        stops = (widget.value - widget.minimum) / widget.step
        assert stops == pytest.approx(round(stops), abs=1e-6), "a browser would move the default"


def test_gleanvid_shows_its_weights_and_tau_at_once_and_folds_the_rest(panel):
    shown, folded = (
        [key for name, key in part.fields if name == "gleanvid"] for part in panel.parts
    )
    assert shown == ["alpha_min", "alpha_max", "tau"]
    assert "debias_rank" in folded
    tau = panel.fields["gleanvid", "tau"]
    assert (tau.label, tau.minimum, tau.maximum, tau.step) == ("tau", 0.5, 20, 0.5)


@pytest.mark.parametrize(
    "absurd",
    [{"debias_rank": 500}, {"local_neighborhood": 50}, {"tau": 1e6}, {"novelty_history": 0}],
)
def test_absurd_settings_are_refused_by_the_method_itself(absurd):
    with pytest.raises(ValueError, match=next(iter(absurd))):
        COMPRESSORS["gleanvid"](**absurd)


def test_the_readout_tells_what_the_clip_made_of_the_weights():
    record = made_of({"alpha": torch.tensor(0.301), "gini": torch.tensor(0.759)})
    assert controls.readout(COMPRESSORS["gleanvid"], record) == "This clip: alpha 0.30, Gini 0.76"
    assert controls.readout(COMPRESSORS["gleanvid"], made_of({})) == ""
    assert controls.readout(COMPRESSORS["uniform"], record) == ""


@pytest.mark.parametrize(("saturated", "told"), [([0, 0], ""), ([0, 1], ". 1 of 2 units had")])
def test_the_readout_tells_of_units_with_nothing_new(saturated, told):
    trace = {"alpha": torch.tensor(0.3), "gini": torch.tensor(0.8)}
    record = made_of(trace | {"saturated": torch.tensor(saturated).bool()})
    text = controls.readout(COMPRESSORS["gleanvid"], record)
    assert text.startswith("This clip: alpha 0.30, Gini 0.80" + told)
    assert ("nothing new to add" in text) == any(saturated)


def made_of(trace):
    return Compression.pruned(torch.tensor([0]), (2, 1, 1), trace=trace)


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
    changes = controls.chosen_method(panel, name)
    for other, group in panel.groups:
        assert changes[group]["visible"] == (other == name)
    assert changes[panel.ratio]["visible"] == (name != "full")
