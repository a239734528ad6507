"""Intervals and paired tests for shares of right answers.

Questions about one clip are not independent, so differences are resampled by clip. McNemar's test
and Wilson's interval take every question as one observation, as is usual in the field.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


def wilson(right: int, n: int, z: float = 1.959964) -> Estimate:
    """The share ``right / n`` and its interval (Wilson 1927); z = 1.96 gives 95 %.

    Raises ``ValueError`` unless 0 <= right <= n and n >= 1.
    """
    if not 0 <= right <= n or n < 1:
        raise ValueError(f"right={right} must be in [0, n={n}], and n at least 1")
    share, spread = right / n, z * z / n
    centre = (share + spread / 2) / (1 + spread)
    reach = z * math.sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    return Estimate(share, max(0.0, centre - reach), min(1.0, centre + reach))


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Exact two-sided p of McNemar's test on paired verdicts: a fair coin for those that differ."""
    _check_paired(first, second)
    only_first = sum(a and not b for a, b in zip(first, second, strict=True))
    only_second = sum(b and not a for a, b in zip(first, second, strict=True))
    differing, fewer = only_first + only_second, min(only_first, only_second)
    tail = sum(math.comb(differing, k) for k in range(fewer + 1))  # exact integers, any size
    return min(1.0, 2 * tail / 2**differing)


def paired_difference(
    first: Sequence[bool],
    second: Sequence[bool],
    clips: Sequence[Hashable],
    seed: int = 0,
    draws: int = 2000,
) -> Estimate:
    """Accuracy of ``first`` minus that of ``second`` with a percentile bootstrap over clips."""
    _check_paired(first, second)
    sums = _by_clip(first, second, clips)
    drawn = _resampled(sums, seed, draws)
    low, high = np.percentile((drawn[:, 0] - drawn[:, 1]) / drawn[:, 2], [2.5, 97.5])
    value = (sums[:, 0].sum() - sums[:, 1].sum()) / len(first)
    return Estimate(float(value), float(low), float(high))


def relative_accuracy(
    first: Sequence[bool],
    full: Sequence[bool],
    clips: Sequence[Hashable],
    seed: int = 0,
    draws: int = 2000,
) -> Estimate:
    """Accuracy over that with all tokens (1.0 = as good), bootstrapped over clips.

    NaN where all tokens give no right answer at all.
    """
    _check_paired(first, full)
    sums = _by_clip(first, full, clips)
    if not sums[:, 1].sum():
        return Estimate(math.nan, math.nan, math.nan)
    drawn = _resampled(sums, seed, draws)
    ratio = drawn[:, 0] / np.maximum(drawn[:, 1], 1)
    low, high = np.percentile(ratio, [2.5, 97.5])
    return Estimate(float(sums[:, 0].sum() / sums[:, 1].sum()), float(low), float(high))


def _check_paired(first: Sequence[bool], second: Sequence[bool]) -> None:
    if len(first) != len(second) or not len(first):
        raise ValueError(f"paired verdicts must be equally many, got {len(first)}, {len(second)}")


def _by_clip(
    first: Sequence[bool], second: Sequence[bool], clips: Sequence[Hashable]
) -> np.ndarray:
    """[clips, 3]: right by the first, right by the second, questions."""
    places = {clip: row for row, clip in enumerate(dict.fromkeys(clips))}
    sums = np.zeros((len(places), 3))
    for a, b, clip in zip(first, second, clips, strict=True):
        sums[places[clip]] += (a, b, 1)
    return sums


def _resampled(sums: np.ndarray, seed: int, draws: int) -> np.ndarray:
    """[draws, 3]: the column sums of as many clips, drawn with replacement."""
    count = len(sums)
    times = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), draws)
    return times @ sums
