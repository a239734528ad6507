"""Intervals and tests against values worked out by hand."""

import math

import numpy as np
import pytest

from gleanvid.evaluation.results.statistics import (
    clip_mean,
    holm,
    mcnemar,
    paired_difference,
    relative_accuracy,
    wilson,
)


def paired(both, only_first, only_second, neither):
    pairs = [(True, True)] * both + [(True, False)] * only_first
    pairs += [(False, True)] * only_second + [(False, False)] * neither
    return [a for a, _ in pairs], [b for _, b in pairs]


def test_wilson_by_hand():
    # 8 of 10, z = 2: centre (0.8 + 0.2) / 1.4, reach 2 sqrt(0.016 + 0.01) / 1.4
    found = wilson(8, 10, z=2.0)
    assert found.value == 0.8
    assert found.low == pytest.approx(1 / 1.4 - 2 * math.sqrt(0.026) / 1.4)
    assert found.high == pytest.approx(1 / 1.4 + 2 * math.sqrt(0.026) / 1.4)


def test_wilson_at_the_ends_stays_a_share():
    none, all_ = wilson(0, 20), wilson(20, 20)
    assert none.low == 0.0 and none.high == pytest.approx(3.8415 / (20 + 3.8415), abs=1e-4)
    assert all_.high == 1.0 and all_.low == pytest.approx(1 - none.high)


def test_wilson_covers_as_often_as_it_says():
    right = np.random.default_rng(0).binomial(60, 0.3, 4000)
    inside = [found.low <= 0.3 <= found.high for found in (wilson(int(r), 60) for r in right)]
    assert 0.93 < np.mean(inside) < 0.97


@pytest.mark.parametrize(("right", "n"), [(1, 0), (-1, 5), (6, 5), (0, 0)])
def test_wilson_refuses_impossible_counts(right, n):
    with pytest.raises(ValueError, match=f"right={right}"):
        wilson(right, n)


@pytest.mark.parametrize(
    ("only_first", "only_second", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 2 / 32), (1, 5, 14 / 64), (3, 3, 1.0), (0, 10, 2 / 1024)],
)
def test_mcnemar_by_hand(only_first, only_second, p):
    first, second = paired(7, only_first, only_second, 4)
    assert mcnemar(first, second) == pytest.approx(p)
    assert mcnemar(second, first) == pytest.approx(p)


def test_mcnemar_holds_thousands_of_pairs():
    first, second = paired(0, 3000, 2800, 0)
    z = (3000 - 2800 - 1) / math.sqrt(5800)  # normal approximation with continuity
    assert mcnemar(first, second) == pytest.approx(math.erfc(z / math.sqrt(2)), rel=0.01)


def test_the_difference_is_that_of_the_accuracies_and_nothing_for_equal_verdicts():
    first, second = paired(40, 9, 3, 8)
    clips = [place // 4 for place in range(60)]
    found = paired_difference(first, second, clips)
    assert found.value == pytest.approx(6 / 60)
    assert found.low < found.value < found.high
    same = paired_difference(first, first, clips)
    assert (same.value, same.low, same.high) == (0.0, 0.0, 0.0)


def test_clustered_questions_widen_the_interval_as_theory_says():
    rng = np.random.default_rng(1)
    by_clip = rng.random(400) < 0.5
    first = [bool(value) for value in by_clip for _ in range(4)]  # all questions of a clip agree
    second = [False] * 1600
    clustered = paired_difference(first, second, [place // 4 for place in range(1600)])
    alone = paired_difference(first, second, list(range(1600)))
    ratio = (clustered.high - clustered.low) / (alone.high - alone.low)
    assert ratio == pytest.approx(2.0, abs=0.2)  # sqrt(4)
    assert clustered.high - clustered.low == pytest.approx(2 * 1.96 * 0.5 / 20, rel=0.1)


def test_the_same_seed_gives_the_same_interval():
    values, clips = np.random.default_rng(0).random(40).tolist(), [n // 4 for n in range(40)]
    assert clip_mean(values, clips, seed=3) == clip_mean(values, clips, seed=3)
    assert clip_mean(values, clips, seed=3) != clip_mean(values, clips, seed=4)
    assert clip_mean(values, clips).value == pytest.approx(np.mean(values))


def test_weights_make_the_mean_over_groups():
    # three of four right in one group, one of one in the other: (0.75 + 1) / 2
    right, weights = [True, True, True, False, True], [0.125] * 4 + [0.5]
    assert clip_mean(right, range(5), weights).value == pytest.approx(0.875)
    full = [True, True, True, True, True]
    assert relative_accuracy(right, full, range(5), weights).value == pytest.approx(0.875)
    assert paired_difference(right, full, range(5), weights).value == pytest.approx(-0.125)


def test_relative_accuracy():
    first, full = paired(30, 2, 10, 8)
    found = relative_accuracy(first, full, list(range(50)))
    assert found.value == pytest.approx(32 / 40)
    assert found.low < 0.8 < found.high
    assert relative_accuracy(full, full, list(range(50))).low == 1.0
    assert math.isnan(relative_accuracy([True], [False], ["a"]).value)


def test_verdicts_that_are_no_pairs_are_refused():
    for call in (lambda: mcnemar([True], []), lambda: paired_difference([], [], [])):
        with pytest.raises(ValueError, match="equally many"):
            call()


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0] and holm([]) == [] and holm([0.04]) == [0.04]
