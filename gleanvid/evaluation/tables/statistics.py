"""Intervals and paired tests for shares of right answers.

Questions about one clip are not independent: the bootstrap resamples clips, and the sign-flip test
swaps two methods clip by clip. McNemar's test and Wilson's interval take every question as one
observation, as is usual in the field. A verdict is a share in [0, 1]: where a method is random, of
its seeds that were right.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


def wilson(right: int, n: int, z: float = 1.959964) -> Estimate:
    """Return the fraction ``right / n`` with Wilson's interval (1927); z = 1.96 gives 95 %.

    Raises ``ValueError`` unless 0 <= right <= n and n >= 1.
    """
    if not 0 <= right <= n or n < 1:
        raise ValueError(f"right={right} must be in [0, n={n}], and n at least 1")
    share, spread = right / n, z * z / n
    centre = (share + spread / 2) / (1 + spread)
    reach = z * math.sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    return Estimate(share, max(0.0, centre - reach), min(1.0, centre + reach))


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Return the exact two-sided p of McNemar's test on paired verdicts.

    Under the null hypothesis each pair that differs is a fair coin.
    """
    _check_equally_many(first, second)
    only_first = sum(a and not b for a, b in zip(first, second, strict=True))
    only_second = sum(b and not a for a, b in zip(first, second, strict=True))
    differing, fewer = only_first + only_second, min(only_first, only_second)
    tail = sum(math.comb(differing, k) for k in range(fewer + 1))  # exact integers, any size
    return min(1.0, 2 * tail / 2**differing)


def sign_flip(
    differences: Sequence[float],
    clips: Sequence[Hashable],
    weights: Sequence[float] | None = None,
    seed: int = 0,
    draws: int = 9999,
) -> float:
    """Return the two-sided p of a paired permutation test that swaps methods in whole clips.

    ``differences``: verdict of the first minus that of the second, question by question; their
    (weighted) sum is the statistic. Under the null hypothesis the difference of a clip is as likely
    to have the other sign. ``draws`` random swaps of all clips, the observed one counted in, so p
    is at least 1 / (draws + 1).
    """
    _check_equally_many(differences, clips)
    shares = _shares(weights, len(differences))
    sums = _by_clip([shares * np.asarray(differences, dtype=float)], clips)[:, 0]
    sums = sums[sums != 0]
    observed, slack = abs(sums.sum()), 1e-9 * np.abs(sums).sum()
    signs = np.random.default_rng(seed).integers(0, 2, (draws, len(sums)), dtype=np.int8)
    drawn = np.abs(2 * (signs @ sums) - sums.sum())
    return float((1 + (drawn >= observed - slack).sum()) / (draws + 1))


def correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Pearson's r; NaN if one of the two is constant."""
    _check_equally_many(first, second)
    x, y = (np.asarray(part, dtype=float) - np.mean(part) for part in (first, second))
    spread = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / spread if spread > 0 else math.nan


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Spearman's rank correlation; NaN as in ``correlation``.

    Equal values share their mean rank.
    """
    _check_equally_many(first, second)
    return correlation(*(_ranks(np.asarray(part, dtype=float)) for part in (first, second)))


def _ranks(values: np.ndarray) -> Sequence[float]:
    """Return the rank of every value; equal values share their mean rank."""
    ordered = np.sort(values)
    first, after = (np.searchsorted(ordered, values, side=side) for side in ("left", "right"))
    return ((first + after - 1) / 2).tolist()


def holm(ps: Sequence[float]) -> list[float]:
    """Adjust p values for multiple comparisons (Holm 1979); keeps their order."""
    adjusted, largest = [0.0] * len(ps), 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = largest
    return adjusted


def clip_mean(
    values: Sequence[float],
    clips: Sequence[Hashable],
    weights: Sequence[float] | None = None,
    seed: int = 0,
    draws: int = 2000,
) -> Estimate:
    """Return the (weighted) mean over questions, with a percentile bootstrap over clips."""
    _check_equally_many(values, clips)
    shares = _shares(weights, len(values))
    sums = _by_clip([shares * np.asarray(values, dtype=float), shares], clips)
    drawn = _resampling(len(sums), seed, draws) @ sums
    drawn = drawn[drawn[:, 1] > 0]  # a draw may have no clip with weight
    low, high = np.percentile(drawn[:, 0] / drawn[:, 1], [2.5, 97.5])
    return Estimate(float(sums[:, 0].sum() / sums[:, 1].sum()), float(low), float(high))


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    clips: Sequence[Hashable],
    weights: Sequence[float] | None = None,
) -> Estimate:
    """Return the accuracy of ``first`` minus that of ``second``, bootstrapped over clips."""
    _check_equally_many(first, second)
    difference = np.subtract(first, second, dtype=float)
    return clip_mean(difference.tolist(), clips, weights)


def relative_accuracy(
    first: Sequence[float],
    full: Sequence[float],
    clips: Sequence[Hashable],
    weights: Sequence[float] | None = None,
    seed: int = 0,
    draws: int = 2000,
) -> Estimate:
    """Return accuracy relative to all tokens (1.0 = equal), bootstrapped over clips.

    NaN if all tokens give no right answer.
    """
    _check_equally_many(first, full)
    shares = _shares(weights, len(first))
    sums = _by_clip([shares * np.asarray(part, dtype=float) for part in (first, full)], clips)
    if not sums[:, 1].sum():
        return Estimate(math.nan, math.nan, math.nan)
    drawn = _resampling(len(sums), seed, draws) @ sums
    drawn = drawn[drawn[:, 1] > 0]
    low, high = np.percentile(drawn[:, 0] / drawn[:, 1], [2.5, 97.5])
    return Estimate(float(sums[:, 0].sum() / sums[:, 1].sum()), float(low), float(high))


@dataclass(frozen=True)
class Paired:
    """Accuracy of one method minus that of another on the same questions; p values two-sided.

    ``mcnemar`` takes every question as an observation (None if a verdict is a mean over seeds),
    ``sign_flip`` every clip; neither is adjusted. ``macro``: the difference of each macro-average.
    """

    difference: Estimate
    mcnemar: float | None
    sign_flip: float
    macro: Mapping[str, Estimate]


def paired(
    first: Sequence[float],
    second: Sequence[float],
    clips: Sequence[Hashable],
    weights: Sequence[float] | None,
    macros: Mapping[str, Sequence[float]],
) -> Paired:
    """Compare two methods; ``weights`` of the questions (None: equal), and by macro-average."""
    return Paired(
        paired_difference(first, second, clips, weights),
        mcnemar_or_none(first, second),
        sign_flip(np.subtract(first, second, dtype=float).tolist(), clips, weights),
        {name: paired_difference(first, second, clips, own) for name, own in macros.items()},
    )


def mcnemar_or_none(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return McNemar's p if every verdict is 0 or 1, else None."""
    if not {0.0, 1.0}.issuperset([*first, *second]):
        return None
    return mcnemar([bool(value) for value in first], [bool(value) for value in second])


def _check_equally_many(first: Sequence[object], second: Sequence[object]) -> None:
    if len(first) != len(second) or not len(first):
        raise ValueError(f"values must be equally many, got {len(first)} and {len(second)}")


def _shares(weights: Sequence[float] | None, count: int) -> np.ndarray:
    return np.ones(count) if weights is None else np.asarray(weights, dtype=float)


def _by_clip(columns: Sequence[np.ndarray], clips: Sequence[Hashable]) -> np.ndarray:
    """[clips, C]: every column summed within each clip."""
    places = {clip: row for row, clip in enumerate(dict.fromkeys(clips))}
    sums = np.zeros((len(places), len(columns)))
    np.add.at(sums, [places[clip] for clip in clips], np.stack(columns, axis=1))
    return sums


@lru_cache(maxsize=4)
def _resampling(count: int, seed: int, draws: int) -> np.ndarray:
    """[draws, clips]: how often each of ``count`` clips is drawn, with replacement."""
    generator = np.random.default_rng(seed)
    return generator.multinomial(count, np.full(count, 1 / count), draws).astype(float)


def share(right: Sequence[float], clips: Sequence[str]) -> Estimate:
    """Return the fraction of right answers, with an interval.

    Wilson's interval if all verdicts are yes or no; a bootstrap over clips if they are means over
    seeds.
    """
    if {0.0, 1.0}.issuperset(right):
        return wilson(int(sum(right)), len(right))
    return clip_mean(right, clips)
