import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gleanvid.compressors import COMPRESSORS
from gleanvid.metrics import budget_gini, debiased, gini, novelty
from gleanvid.types import VideoTokens
from tests.metrics.cases import record


def test_gini_equals_values_computed_by_hand():
    assert gini(torch.ones(5)) == pytest.approx(0)
    assert gini(torch.tensor([0.0, 0, 0, 8])) == pytest.approx(0.75)
    assert gini(torch.tensor([3.0, 1])) == pytest.approx(0.25)
    assert gini(torch.zeros(3)) == 0.0
    with pytest.raises(ValueError, match="negative"):
        gini(torch.tensor([-1.0, 2]))


SHARES = st.just(0.0) | st.floats(1e-9, 100)  # smaller values would underflow when scaled


@given(st.lists(SHARES, min_size=1, max_size=20), st.floats(0.01, 100))
def test_gini_is_bounded_and_invariant_to_order_and_scale(values, scale):
    points = torch.tensor(values, dtype=torch.float64)
    value = gini(points)
    assert 0 <= value <= 1 - 1 / len(values) + 1e-9
    assert gini(scale * points.flip(0)) == pytest.approx(value, abs=1e-6)


def test_budget_gini_is_the_gini_of_tokens_kept_per_unit():
    assert budget_gini(record([0, 1, 2, 3])) == pytest.approx(0)
    assert budget_gini(record([0, 1])) == pytest.approx(0.5)


def test_repeated_frame_has_no_novelty():
    frame = torch.randn(4, 8, generator=torch.Generator().manual_seed(0))
    found = novelty(torch.cat([frame, frame]), (2, 2, 2), epsilon=1e-9)
    assert found[1] < 1e-3 * found[0]


def test_novelty_and_its_gini_equal_the_values_that_gleanvid_stores_in_its_trace():
    generator = torch.Generator().manual_seed(3)
    tokens = VideoTokens(torch.randn(6 * 15, 32, generator=generator), (6, 3, 5))
    trace = COMPRESSORS["gleanvid"](0.25).compress(tokens).trace
    found = novelty(debiased(tokens.features), tokens.grid)
    torch.testing.assert_close(found, trace["novelty"].double())
    assert gini(found) == pytest.approx(float(trace["gini"]), abs=1e-6)
