import pytest
from hypothesis import given
from hypothesis import strategies as st

from gleanvid import Sampling
from gleanvid.models.generation.answering import generation_config
from gleanvid.models.generation.sampling import COLDEST, SEEDS


@pytest.mark.parametrize(
    "setting",
    [
        {"max_new_tokens": 0},
        {"max_new_tokens": 1.5},
        {"temperature": -0.1},
        {"temperature": 1e-320},
        {"temperature": float("nan")},
        {"top_p": 0},
        {"top_p": 1.01},
        {"seed": -1},
        {"seed": SEEDS},
    ],
    ids=str,
)
def test_sampling_option_out_of_range_is_refused_with_name_and_value(setting):
    ((name, value),) = setting.items()
    with pytest.raises(ValueError, match=f"^{name}={value!r} must be ".replace(".", r"\.")):
        Sampling(**setting)


@given(
    st.integers(1),
    st.just(0.0) | st.floats(COLDEST, 100),
    st.floats(0, 1, exclude_min=True),
    st.integers(0, 99),
)
def test_every_sampling_option_is_passed_to_generate(length, temperature, top_p, seed):
    sampling = Sampling(length, temperature, top_p, seed)
    config = generation_config(sampling)
    assert config.max_new_tokens == length
    assert config.do_sample is not sampling.greedy
    assert (config.temperature, config.top_p) == (
        (1, 1) if sampling.greedy else (temperature, top_p)
    )
    assert generation_config(sampling, 7).max_new_tokens == min(length, 7)
