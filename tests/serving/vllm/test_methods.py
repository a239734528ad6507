import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gleanvid.compressors import COMPRESSORS
from gleanvid.serving.vllm.methods import choose, chosen_method, kept_count, refusal, servable

GRIDS = st.tuples(st.integers(1, 6), st.integers(1, 7), st.integers(1, 7))
REASONS = {
    "full": "it drops nothing",
    "visionzip": "it merges tokens",
    "fastvid": "it merges tokens",
    "sttm": "it merges tokens",
    "fastv": "it acts inside the language model",
    "dycoke": "it keeps 9 units of 32 whatever the ratio",
    "evs": "it keeps one unit whatever the ratio",
}


def test_every_compressor_is_served_by_vllm_or_refused_with_the_reason():
    served = servable()
    assert {"gleanvid", "vidcom2", "vcast", "divprune", "floc", "uniform", "random"} <= {*served}
    for name, reason in REASONS.items():
        assert name not in served and refusal(COMPRESSORS[name]()).startswith(reason)


@pytest.mark.parametrize("name", servable())
@settings(max_examples=20)
@given(grid=GRIDS, rate=st.floats(0.01, 0.99), whole_unit=st.booleans())
def test_served_compressor_keeps_exactly_the_count_that_the_prompt_reserves(
    name, grid, rate, whole_unit
):
    count = kept_count(grid, rate, whole_unit=whole_unit)
    total = grid[0] * grid[1] * grid[2]
    features = torch.randn(total, 16, generator=torch.Generator().manual_seed(total))
    keep = choose(COMPRESSORS[name](), features, grid, count)
    assert len(keep) == count and (keep.diff() > 0).all()
    assert keep[0] >= 0 and keep[-1] < total


def test_number_of_kept_tokens_is_rounded_down_as_in_vllm():
    assert kept_count((8, 10, 10), 0.75, whole_unit=False) == 200
    # 10 * (1 - 0.7) is 3.0000000000000004 in floating point
    assert kept_count((1, 1, 10), 0.7, whole_unit=False) == 3
    # 10 * (1 - 0.9) is 0.99... in floating point, but each temporal unit keeps a token
    assert kept_count((1, 1, 10), 0.9, whole_unit=False) == 1
    assert kept_count((16, 2, 2), 0.99, whole_unit=False) == 16
    assert kept_count((16, 2, 2), 0.99, whole_unit=True) == 4


def test_features_that_are_not_finite_do_not_stop_the_vllm_engine():
    features = torch.full((24, 8), float("nan"))
    features[3] = float("inf")
    assert len(choose(COMPRESSORS["gleanvid"](), features, (2, 3, 4), 6)) == 6


def test_served_compressor_is_given_by_name_or_by_settings():
    assert chosen_method("vcast", 0.5).name == "vcast"
    assert chosen_method({"name": "gleanvid", "tau": 2}, 0.5).tau == 2


WRONG = [
    ("nothing", 0.5, "compressor='nothing' must be one of"),
    ({"tau": 2.0}, 0.5, 'settings with a "name"'),
    ({"name": "gleanvid", "tau": 99}, 0.5, "tau=99 must be in"),
    ({"name": "gleanvid", "tauu": 1}, 0.5, "gleanvid has no setting tauu"),
    ({"name": "gleanvid", "retention_ratio": 0.5}, 0.5, "--video-pruning-rate is the fraction"),
    ({"name": "vidcom2", "exact": False}, 0.5, "vidcom2 cannot be served by vLLM: exact=False"),
    ("holitom", 0.5, "holitom cannot be served by vLLM: it merges tokens"),
    ("gleanvid", None, "start the server with --video-pruning-rate"),
    ("gleanvid", 0.0, "start the server with --video-pruning-rate"),
]


@pytest.mark.parametrize(("given", "rate", "sentence"), WRONG)
def test_compressor_that_cannot_be_served_is_refused(given, rate, sentence):
    with pytest.raises(ValueError, match=sentence):
        chosen_method(given, rate)
