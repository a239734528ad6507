import gradio as gr
import pytest

from components.jobs.methods import RATIO, make_compressor, sent_settings
from components.widgets import controls
from gleanvid import COMPRESSORS
from gleanvid.compressors.base import declared_settings


@pytest.fixture(scope="module")
def panel():
    with gr.Blocks():
        method = controls.choice(COMPRESSORS, "gleanvid")
        own = controls.settings_by_key(COMPRESSORS, "gleanvid", 0.25)
        places = (True, False)
        parts = [controls.part(COMPRESSORS, own, "gleanvid", in_the_open=place) for place in places]
        return controls.Controls(method, own, parts, gr.HTML())


def compressor_from_controls(panel, name, **changed):
    """Return the compressor that the controls make if the settings ``changed`` were changed."""
    own = {
        key.removeprefix(f"{name}."): value
        for key, value in panel.defaults.items()
        if key.startswith(f"{name}.")
    }
    return make_compressor(name, own | changed)


def fields(panel, name):
    """Return the description of each control that the browser draws for a method."""
    drawn = {key: field for part in panel.parts for key, field in part.declared.items()}
    return {
        key.removeprefix(f"{name}."): drawn[key] for part in panel.parts for key in part.keys[name]
    }


@pytest.mark.parametrize("name", COMPRESSORS)
def test_every_declared_setting_has_one_control_that_starts_at_its_default(panel, name):
    declared = declared_settings(COMPRESSORS[name])
    keys = [key for part in panel.parts for key in part.keys[name]]
    assert len(keys) == len(set(keys)) == len(declared) - (name == "full")
    for setting, field in fields(panel, name).items():
        default, _, spec = declared[setting]
        assert field["default"] == (0.25 if setting == RATIO else default)
        assert field["help"] == spec.help
        if default is None:
            assert field["optional"] == spec.optional and field["start"] == spec.start


@pytest.mark.parametrize("name", COMPRESSORS)
def test_sliders_end_at_values_that_the_method_accepts(panel, name):
    for setting, field in fields(panel, name).items():
        _, kind, declared = declared_settings(COMPRESSORS[name])[setting]
        if setting == "seed" or kind in (bool, str):
            continue
        assert field["kind"] == "slider", setting
        assert field["high"] == declared.high
        assert declared.accepts(field["low"], kind) and declared.accepts(field["high"], kind)
        begin = declared.start if field["default"] is None else field["default"]
        stops = (begin - field["low"]) / field["step"]
        assert stops == pytest.approx(round(stops), abs=1e-6), "a browser would move the default"


def test_gleanvid_shows_weights_and_tau_and_hides_other_settings_under_more_settings(panel):
    shown, folded = (part.keys["gleanvid"] for part in panel.parts)
    assert shown == [RATIO, "gleanvid.alpha_min", "gleanvid.alpha_max", "gleanvid.tau"]
    assert "gleanvid.debias_rank" in folded
    tau = fields(panel, "gleanvid")["tau"]
    assert [tau[name] for name in ("label", "low", "high", "step")] == ["tau", 0.5, 20, 0.5]
    assert fields(panel, "gleanvid")["alpha_min"]["at_most"] == "gleanvid.alpha_max"


def test_changed_controls_reach_the_compressor(panel):
    changed = compressor_from_controls(
        panel, "gleanvid", retention_ratio=0.1, alpha_min=0.3, novelty_history=2.0
    )
    assert changed == COMPRESSORS["gleanvid"](retention_ratio=0.1, alpha_min=0.3, novelty_history=2)
    assert isinstance(changed.novelty_history, int)


@pytest.mark.parametrize(
    "sent", [None, [], "tau", {"gleanvid.tau": [3]}, {"gleanvid.tau": {"value": 3}}]
)
def test_settings_of_wrong_type_are_refused(sent):
    with pytest.raises(TypeError):
        sent_settings(sent)


def test_showing_a_run_sets_the_controls_of_its_method_and_keeps_those_of_other_methods(panel):
    stood = {"gleanvid.tau": 9.0, "vcast.temperature": 3.0, RATIO: 0.5}
    run = COMPRESSORS["gleanvid"](0.1, alpha_min=0.3)
    changes = controls.given_settings(panel, run.settings(), stood)
    open_part, folded = panel.parts
    assert changes[panel.method] == "gleanvid"
    assert changes[open_part] == {RATIO: 0.1, "gleanvid.alpha_min": 0.3}
    assert changes[folded] == {"vcast.temperature": 3.0}
    full = controls.given_settings(panel, COMPRESSORS["full"]().settings(), stood)
    assert full[open_part][RATIO] == 0.5, "all tokens have no ratio of their own"
