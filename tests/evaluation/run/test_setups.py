"""Keys of setups: those of earlier journals are read as today's."""

import pytest

from gleanvid.compressors.ablation import Ablation
from gleanvid.compressors.base import Chain
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.compressors.vcast import VCast
from gleanvid.evaluation.run.setups import Setup, current_key


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
        (
            "both[0: gleanvid(retention_ratio=0.5, history=2), 3: vcast(retention_ratio=0.5)]@32",
            Chain("both", ((0, GleanVID(0.5, novelty_history=2)), (3, VCast(0.5)))),
        ),
    ],
    ids=lambda value: value.split("(")[0] if isinstance(value, str) else "",
)
def test_an_earlier_key_is_todays_key_of_the_same_setup(earlier, method):
    assert current_key(earlier) == Setup(method, 32).key == current_key(Setup(method, 32).key)
