import pytest

from gleanvid.compressors import method_from, names_in
from gleanvid.compressors.flashvid import FlashVID
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.gleanvid.ablation import Ablation
from gleanvid.compressors.holitom import HoliTom
from gleanvid.evaluation.lmms_eval.requests import named_compressor
from gleanvid.evaluation.run.setups import Setup, grid


@pytest.mark.parametrize(
    "method",
    [
        GleanVID(0.25, novelty_history=4),
        FlashVID(0.25, version="v2", min_segments=8, inner=True),
        Ablation(0.15, selection="lrs", seed=3),
        FullTokens(),
    ],
)
def test_key_of_a_setup_holds_every_setting(method):
    text, _, frames = Setup(method, 32).key.rpartition("@")
    assert (method_from(text), frames) == (method, "32")


def test_compressor_settings_in_brackets_are_parsed():
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


def test_a_ratio_in_brackets_holds_and_contradicts_another():
    methods = ["gleanvid(0.2)", "vcast"]
    assert [one.retention_ratio for one in grid(methods, [None], 4)] == [1, 0.2, 0.25]
    assert named_compressor("gleanvid(0.2)", {"tau": 2.0}) == GleanVID(0.2, tau=2.0)
    assert method_from("gleanvid(0.2)", 0.2) == GleanVID(0.2)
    for made in (
        lambda: grid(methods, [0.2, 0.1], 4),
        lambda: method_from("gleanvid(0.2)", 0.1),
        lambda: named_compressor("gleanvid(0.2)", {"retention_ratio": 0.1}),
        lambda: named_compressor("gleanvid(tau=2)", {"tau": 1.0}),
    ):
        with pytest.raises(ValueError, match=r"has two values: .* in gleanvid\(.*\), and"):
            made()
