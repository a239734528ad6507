from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gleanvid.compressors.shared.apportion import largest_remainder


def budgets(shares, total, cap, floor=0):
    return largest_remainder(torch.tensor(shares, dtype=torch.float64), total, cap, floor).tolist()


def test_remainders_go_to_the_largest_fraction_then_to_the_earlier_unit():
    assert budgets([1, 1, 1], 4, 9) == [2, 1, 1]
    assert budgets([2.4, 2.5, 5.1], 10, 9) == [2, 3, 5]


def test_excess_over_a_unit_s_capacity_is_redistributed():
    assert budgets([90, 6, 4], 20, 10) == [10, 6, 4]


def test_minimum_per_unit_reduces_the_other_budgets():
    assert budgets([100, 0, 0], 10, 10, floor=1) == [8, 1, 1]


def test_total_above_all_capacities_is_refused():
    with pytest.raises(ValueError, match="total=11"):
        budgets([1, 1], 11, 5)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20), st.integers(1, 30), st.data())
def test_budgets_sum_to_the_total_and_stay_between_0_and_capacity(shares, cap, data):
    total = data.draw(st.integers(0, cap * len(shares)))
    result = budgets(shares, total, cap)
    assert sum(result) == total
    assert all(0 <= budget <= cap for budget in result)
    order = sorted(range(len(shares)), key=lambda unit: shares[unit])
    assert all(result[a] <= result[b] + 1 for a, b in pairwise(order))
