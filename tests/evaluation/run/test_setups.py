"""Keys of setups: those of earlier journals are read as today's."""

import pytest

from gleanvid.compressors import method_from, names_in
from gleanvid.compressors.ablation import Ablation
from gleanvid.compressors.flashvid import FlashVID
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.holitom import HoliTom
from gleanvid.compressors.vcast import VCast
from gleanvid.evaluation.run.setups import Setup, current_key, setup_from


@pytest.mark.parametrize(
    ("earlier", "method"),
    [
        (
            "gleanvid(retention_ratio=0.25, temperature=2.0, history=4)@32",
            GleanVID(0.25, tau=2.0, novelty_history=4),
        ),
        (
            "ablation(retention_ratio=0.25, history=1, budgeting='vcast')@32",
            Ablation(0.25, novelty_history=1, budgeting="vcast"),
        ),
        ("vcast(retention_ratio=0.25, temperature=2.0)@32", VCast(0.25, temperature=2.0)),
    ],
    ids=lambda value: value.split("(")[0] if isinstance(value, str) else "",
)
def test_an_earlier_key_is_todays_key_of_the_same_setup(earlier, method):
    assert current_key(earlier) == Setup(method, 32).key == current_key(Setup(method, 32).key)


@pytest.mark.parametrize(
    "method",
    [
        GleanVID(0.25, novelty_history=4),
        FlashVID(0.25, version="v2", min_segments=8, inner=True),
        Ablation(0.15, selection="lrs", seed=3),
        FullTokens(),
    ],
)
def test_a_key_gives_its_setup_back(method):
    assert setup_from(Setup(method, 32).key) == Setup(method, 32)


def test_settings_stand_in_brackets_behind_a_name():
    listed = "gleanvid,flashvid(version=v2, inner=true),holitom(tau=0.65)"
    ours, flash, holitom = names_in(listed)
    assert method_from(ours, 0.5) == GleanVID(0.5)
    assert method_from(flash, 0.5) == FlashVID(0.5, version="v2", inner=True)
    assert method_from(holitom, 0.1) == HoliTom(0.1, tau=0.65)
    assert method_from("full", 0.1) == FullTokens()
    assert method_from("gleanvid(novelty_history=none)") == GleanVID()
    for text, told in (
        ("glean", "compressor='glean' must be one of"),
        ("vcast(x=1)", "no setting"),
    ):
        with pytest.raises(ValueError, match=told):
            method_from(text)


def test_a_title_tells_settings_that_are_not_the_defaults():
    assert Setup(GleanVID(0.1), 32).title == "GleanVID"
    assert Setup(Ablation(0.1, first_unit="centred"), 32).title == "Ablation (first_unit centred)"
    assert Setup(GleanVID(0.1, tau=2.0), 32, "sharper").title == "sharper"
