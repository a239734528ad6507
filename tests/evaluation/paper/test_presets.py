"""The presets agree with the paper's tables and with GleanVID's defaults."""

import pytest

from gleanvid.compressors.ablation import Ablation
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.evaluation.paper.presets import ABLATIONS, OWN_PRESETS, PRESETS
from gleanvid.evaluation.run.setups import described, grid

SENSITIVITY = ["debias-rank", "history", "budget-neighborhood", "local-neighborhood"]
SENSITIVITY += ["temperature", "alpha"]


@pytest.mark.parametrize("name", ABLATIONS)
def test_every_ablation_starts_with_the_all_tokens_setup_and_has_default_gleanvid_once(name):
    setups = ABLATIONS[name].setups()
    assert isinstance(setups[0].method, FullTokens)
    assert [setup.method for setup in setups].count(GleanVID(0.15)) == 1
    assert len({setup.key for setup in setups}) == len(setups)
    assert {setup.num_frames for setup in setups} == {32}
    assert all(setup.method.retention_ratio == 0.15 for setup in setups[1:])


@pytest.mark.parametrize("name", SENSITIVITY)
def test_dagger_in_a_setup_label_marks_gleanvid_with_default_settings(name):
    for setup in ABLATIONS[name].setups()[1:]:
        assert ("†" in setup.label) == (setup.method == GleanVID(0.15))


@pytest.mark.parametrize("frames", [None, 6])
@pytest.mark.parametrize("name", ["fixed-token-budget", "fixed-token-budget-baselines"])
def test_setups_of_a_fixed_token_budget_keep_equally_many_tokens(name, frames):
    setups = (PRESETS | OWN_PRESETS)[name].setups(frames)
    budgets = {round(setup.num_frames * setup.retention_ratio, 6) for setup in setups}
    assert budgets == {frames or 16}
    assert [setup.num_frames // setups[0].num_frames for setup in setups[:5]] == [1, 5, 5, 10, 10]


def test_grid_of_methods_and_ratios_contains_the_all_tokens_setup_once():
    setups = grid(["gleanvid", "full", "uniform", "gleanvid"], [1, 0.5, 0.1, 0.5], 16)
    assert [setup.key for setup in setups] == [
        "full(retention_ratio=1.0)@16",
        "gleanvid(retention_ratio=0.5)@16",
        "gleanvid(retention_ratio=0.1)@16",
        "uniform(retention_ratio=0.5)@16",
        "uniform(retention_ratio=0.1)@16",
    ]


@pytest.mark.parametrize(
    ("names", "ratios", "frames", "named"),
    [
        (["glean"], [0.5], 16, "compressor='glean' must be one of full, gleanvid"),
        (["gleanvid"], [0.0], 16, r"retention_ratio=0.0 must be in \(0, 1\]"),
        (["gleanvid"], [1.5], 16, "retention_ratio=1.5"),
        (["gleanvid"], [float("nan")], 16, "retention_ratio=nan"),
        (["gleanvid"], [0.5], 0, "num_frames=0"),
    ],
)
def test_error_for_an_invalid_grid_of_setups_names_the_setting(names, ratios, frames, named):
    with pytest.raises(ValueError, match=named):
        grid(names, ratios, frames)


def test_different_setups_have_different_descriptions():
    assert described(GleanVID(0.25)) == "gleanvid(retention_ratio=0.25)"
    assert (
        described(GleanVID(0.25, novelty_history=4))
        == "gleanvid(retention_ratio=0.25, novelty_history=4)"
    )
    assert described(Ablation(0.25, selection="scs")) != described(Ablation(0.25))
