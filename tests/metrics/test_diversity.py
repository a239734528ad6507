import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gleanvid.metrics import effective_rank
from tests.metrics.cases import rotation


def test_effective_rank_of_orthonormal_rows_is_their_number():
    assert effective_rank(torch.eye(5, 9)) == pytest.approx(5)


def test_effective_rank_of_singular_values_3_and_1_equals_the_value_by_hand():
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert effective_rank(torch.diag(torch.tensor([3.0, 1.0]))) == pytest.approx(math.exp(entropy))


def test_effective_rank_of_no_rows_or_zero_rows_is_0():
    assert effective_rank(torch.zeros(0, 4)) == 0.0
    assert effective_rank(torch.zeros(3, 4)) == 0.0


@settings(max_examples=20)
@given(st.integers(1, 12), st.integers(2, 12), st.floats(1e-3, 1e3), st.integers(0, 99))
def test_effective_rank_is_invariant_to_rotation_scale_and_order_and_at_most_the_rank(
    rows, width, scale, seed
):
    generator = torch.Generator().manual_seed(seed)
    points = torch.randn(rows, width, generator=generator, dtype=torch.float64)
    value = effective_rank(points)
    turned = points @ rotation(width, seed).double()
    assert effective_rank(scale * turned.flip(0)) == pytest.approx(value, rel=1e-6)
    assert 1 - 1e-9 <= value <= min(rows, width) + 1e-9
