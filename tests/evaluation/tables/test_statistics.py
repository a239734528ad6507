import math

import numpy as np
import pytest
from scipy import stats

from gleanvid.evaluation.tables.statistics import (
    clip_mean,
    correlation,
    holm,
    paired_difference,
    sign_flip,
    wilson,
)


def paired(both, only_first, only_second, neither):
    pairs = [(True, True)] * both + [(True, False)] * only_first
    pairs += [(False, True)] * only_second + [(False, False)] * neither
    return [a for a, _ in pairs], [b for _, b in pairs]


@pytest.mark.parametrize(("right", "n"), [(1, 0), (-1, 5), (6, 5), (0, 0)])
def test_wilson_interval_refuses_impossible_counts(right, n):
    with pytest.raises(ValueError, match=f"right={right}"):
        wilson(right, n)


def test_paired_difference_is_the_accuracy_gain_and_zero_for_equal_verdicts():
    first, second = paired(40, 9, 3, 8)
    clips = [place // 4 for place in range(60)]
    found = paired_difference(first, second, clips)
    assert found.value == pytest.approx(6 / 60)
    assert found.low < found.value < found.high
    same = paired_difference(first, first, clips)
    assert (same.value, same.low, same.high) == (0.0, 0.0, 0.0)


def test_interval_over_clustered_questions_is_wider_by_the_root_of_the_design_effect():
    rng = np.random.default_rng(1)
    by_clip = rng.random(400) < 0.5
    first = [bool(value) for value in by_clip for _ in range(4)]  # equal verdicts within a clip
    second = [False] * 1600
    clustered = paired_difference(first, second, [place // 4 for place in range(1600)])
    alone = paired_difference(first, second, list(range(1600)))
    ratio = (clustered.high - clustered.low) / (alone.high - alone.low)
    # 4 equal answers per clip: the design effect is 4, and its square root is 2
    assert ratio == pytest.approx(2.0, abs=0.2)
    assert clustered.high - clustered.low == pytest.approx(2 * 1.96 * 0.5 / 20, rel=0.1)


def test_macro_average_weighs_groups_equally_and_omits_questions_without_a_group():
    # group a: 3 of 4 right, group b: 1 of 1 right; mean (0.75 + 1) / 2
    right, groups = [True, True, True, False, True, False], [*"aaaab", None]
    assert clip_mean(right, range(6), groups).value == pytest.approx(0.875)


def test_macro_average_interval_equals_scipy_s_bootstrap_of_the_mean_over_group_means():
    rng = np.random.default_rng(2)
    sizes = {"a": 20, "b": 60, "c": 200}
    parts = [
        rng.random(count) < rate
        for count, rate in zip(sizes.values(), (0.3, 0.6, 0.9), strict=True)
    ]
    theirs = stats.bootstrap(
        parts,
        lambda *groups, axis: np.mean([part.mean(axis=axis) for part in groups], axis=0),
        method="percentile",
        vectorized=True,
        rng=rng,
    ).confidence_interval
    groups = [name for name, count in sizes.items() for _ in range(count)]
    ours = clip_mean(np.concatenate(parts).astype(float).tolist(), range(280), groups)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.015)


def test_paired_verdicts_of_unequal_length_are_refused():
    for call in (lambda: clip_mean([1.0], []), lambda: paired_difference([], [], [])):
        with pytest.raises(ValueError, match="same number of values"):
            call()


def test_intervals_correlation_and_holm_correction_of_the_smallest_samples():
    assert wilson(0, 20).low == 0.0 and wilson(20, 20).high == 1.0
    assert math.isnan(correlation([1.0, 1.0], [0.0, 1.0]))
    assert holm([]) == [] and holm([0.04]) == [0.04]
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def verdicts(seed, count, lead):
    rng = np.random.default_rng(seed)
    clips = rng.integers(0, count // 3, count).tolist()
    first, second = rng.random(count) < 0.7 + lead, rng.random(count) < 0.7
    return (first.astype(float) - second).tolist(), clips


@pytest.mark.parametrize(("seed", "count", "lead"), [(0, 24, 0.0), (1, 24, 0.2), (2, 400, 0.05)])
def test_sign_flip_test_equals_scipy_s_permutation_test(seed, count, lead):
    """SciPy enumerates all sign patterns for few clips and samples them for many."""
    differences, clips = verdicts(seed, count, lead)
    sums = [sum(d for d, c in zip(differences, clips, strict=True) if c == k) for k in set(clips)]
    theirs = stats.permutation_test(
        (np.array(sums),),
        lambda x: abs(x.sum()),
        permutation_type="samples",
        alternative="greater",
        n_resamples=20000,
        rng=np.random.default_rng(0),
    ).pvalue
    assert sign_flip(differences, clips) == pytest.approx(theirs, abs=0.015)


def test_sign_flip_test_keeps_its_level_for_correlated_questions_of_a_clip():
    rng = np.random.default_rng(0)
    clips = [place // 4 for place in range(160)]
    rejected = 0
    for _ in range(300):
        by_clip = rng.integers(-1, 2, 40).repeat(4).astype(float)
        rejected += sign_flip(by_clip.tolist(), clips, draws=499) < 0.05
    assert rejected / 300 < 0.09
