"""Intervals and paired tests for fractions of right answers.

Questions about one clip are not independent. So the bootstrap resamples clips, and the sign-flip
test swaps two methods clip by clip. Wilson's interval takes every question as one observation, as
is usual in the field. The verdict on an answer is a number in [0, 1]: 1 if it is right. For a
random method, it is the fraction of its seeds with a right answer. ``groups`` has one label for
each question. With it, an average is the mean over groups of the mean within each group, and
questions whose label is None are left out.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

Groups = Sequence[Hashable | None]
_DRAWS = 2000  # bootstrap draws of clips


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


def wilson(right: int, n: int) -> Estimate:
    """Return the fraction ``right / n`` with Wilson's interval (1927).

    Raises ``ValueError`` unless 0 <= right <= n and n >= 1.
    """
    from scipy.stats import binomtest

    if not 0 <= right <= n or n < 1:
        raise ValueError(f"right={right} must be in [0, n={n}], and n at least 1")
    interval = binomtest(right, n).proportion_ci(method="wilson")
    return Estimate(right / n, float(interval.low), float(interval.high))


def sign_flip(
    differences: Sequence[float],
    clips: Sequence[Hashable],
    groups: Groups | None = None,
    draws: int = 9999,
) -> float:
    """Return the two-sided p value of a paired permutation test of two methods.

    ``differences``: for each question, the verdict on the first method minus that on the second.
    The test statistic is their average. Under the null hypothesis, each clip's differences may as
    well have the opposite sign. The test draws random signs for all clips ``draws`` times. The
    observed signs count as one more draw, so p is at least 1 / (draws + 1).
    """
    check_equally_many(differences, clips)
    weights = _weights(groups, len(differences))
    sums = _by_clip(weights * np.asarray(differences, dtype=float), clips)[:, 0]
    sums = sums[sums != 0]
    observed, slack = abs(sums.sum()), 1e-9 * np.abs(sums).sum()
    signs = np.random.default_rng(0).integers(0, 2, (draws, len(sums)), dtype=np.int8)
    drawn = np.abs(2 * (signs @ sums) - sums.sum())
    return float((1 + (drawn >= observed - slack).sum()) / (draws + 1))


def holm(ps: Sequence[float]) -> list[float]:
    """Adjust p values for multiple comparisons (Holm 1979); return them in the order given."""
    from statsmodels.stats.multitest import multipletests

    return [float(p) for p in multipletests(ps, method="holm")[1]] if len(ps) else []


def clip_mean(
    values: Sequence[float], clips: Sequence[Hashable], groups: Groups | None = None, seed: int = 0
) -> Estimate:
    """Return the average over questions, with a 95 % percentile bootstrap interval over clips.

    With ``groups``, the mean of every group is computed again in every draw of clips.
    """
    check_equally_many(values, clips)
    found, drawn = _averages([values], clips, groups, seed)
    return _estimate(found[0], drawn[:, 0])


def paired_difference(
    first: Sequence[float], second: Sequence[float], clips: Sequence[Hashable]
) -> Estimate:
    """Return the accuracy of ``first`` minus that of ``second``, bootstrapped over clips.

    ``first`` and ``second`` are the verdicts on two methods' answers to the same questions.
    """
    check_equally_many(first, second)
    difference = np.subtract(first, second, dtype=float)
    return clip_mean(difference.tolist(), clips)


def relative_accuracy(
    first: Sequence[float], full: Sequence[float], clips: Sequence[Hashable]
) -> Estimate:
    """Return the accuracy of ``first`` divided by that of ``full``, bootstrapped over clips.

    ``first`` and ``full`` are the verdicts with compression and with all tokens. Return NaN if the
    model gives no right answer with all tokens.
    """
    check_equally_many(first, full)
    found, drawn = _averages([first, full], clips)
    if not found[1]:
        return Estimate(math.nan, math.nan, math.nan)
    drawn = drawn[drawn[:, 1] > 0]
    return _estimate(found[0] / found[1], drawn[:, 0] / drawn[:, 1])


def correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Pearson's r; NaN where one of the two does not vary."""
    from scipy.stats import pearsonr

    check_equally_many(first, second)
    if len({*first}) < 2 or len({*second}) < 2:
        return math.nan
    return float(pearsonr(first, second).statistic)


@dataclass(frozen=True)
class Paired:
    """Accuracy of one method minus that of another on the same questions.

    ``sign_flip``: the two-sided p value of :func:`sign_flip`, not adjusted. ``macro`` and
    ``macro_sign_flip``: difference and p value for each macro-average, by its name.
    """

    difference: Estimate
    sign_flip: float
    macro: Mapping[str, Estimate]
    macro_sign_flip: Mapping[str, float]

    def at(self, metric: str) -> tuple[Estimate, float]:
        """Return the difference between the methods in the average ``metric``, and its p value.

        ``metric`` is the name of a macro-average, or "accuracy".
        """
        if metric in self.macro:
            return self.macro[metric], self.macro_sign_flip[metric]
        return self.difference, self.sign_flip


def paired(
    first: Sequence[float],
    second: Sequence[float],
    clips: Sequence[Hashable],
    macros: Mapping[str, Groups],
) -> Paired:
    """Compare two methods by accuracy, and by every macro-average."""
    difference = np.subtract(first, second, dtype=float).tolist()
    return Paired(
        clip_mean(difference, clips),
        sign_flip(difference, clips),
        {name: clip_mean(difference, clips, own) for name, own in macros.items()},
        {name: sign_flip(difference, clips, own) for name, own in macros.items()},
    )


def check_equally_many(first: Sequence[object], second: Sequence[object]) -> None:
    """Raise ``ValueError`` if the two lists differ in length or are empty."""
    if len(first) != len(second) or not len(first):
        raise ValueError(
            "both lists must have the same number of values, at least one, "
            f"got {len(first)} and {len(second)}"
        )


def _columns(groups: Groups | None, count: int) -> np.ndarray:
    """Return a matrix [questions, groups]: 1 if a question counts in a group, else 0."""
    if groups is None:
        return np.ones((count, 1))
    names = [name for name in dict.fromkeys(groups) if name is not None]
    return np.array([[float(own == name) for name in names] for own in groups])


def _weights(groups: Groups | None, count: int) -> np.ndarray:
    """Return the weight of each of ``count`` questions in the average; weights sum to 1."""
    member = _columns(groups, count)
    return (member / member.sum(0)).sum(1) / member.shape[1]


def _averages(
    values: Sequence[Sequence[float]],
    clips: Sequence[Hashable],
    groups: Groups | None = None,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return averages over questions, and these averages in random draws of clips.

    Each list in ``values`` has one value per question. The shapes are [lists] and [draws, lists].
    With ``groups``, an average is the mean over groups of questions of the mean within each group.
    A draw's average leaves out the groups that have no question in it. A draw without any
    group is left out.
    """
    member = _columns(groups, len(clips))
    parts = [member * np.asarray(own, dtype=float)[:, None] for own in values]
    sums = _by_clip(np.concatenate([*parts, member], axis=1), clips)
    counts = np.concatenate([np.ones((1, len(sums))), _resampling(len(sums), seed)])
    drawn = (counts @ sums).reshape(len(counts), -1, member.shape[1])
    drawn = drawn[drawn[:, -1].sum(1) > 0]
    asked = drawn[:, -1:] > 0
    means = np.divide(drawn[:, :-1], drawn[:, -1:], out=np.zeros_like(drawn[:, :-1]), where=asked)
    means = means.sum(2) / asked.sum(2)
    return means[0], means[1:]


def _estimate(value: float, drawn: np.ndarray) -> Estimate:
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Estimate(float(value), float(low), float(high))


def _by_clip(columns: np.ndarray, clips: Sequence[Hashable]) -> np.ndarray:
    """Sum values [questions] or [questions, columns] within each clip; return [clips, columns]."""
    columns = columns.reshape(len(clips), -1)
    places = {clip: row for row, clip in enumerate(dict.fromkeys(clips))}
    sums = np.zeros((len(places), columns.shape[1]))
    np.add.at(sums, [places[clip] for clip in clips], columns)
    return sums


@lru_cache(maxsize=4)
def _resampling(count: int, seed: int) -> np.ndarray:
    """Draw ``count`` clips with replacement; return how often each is drawn, [draws, clips]."""
    generator = np.random.default_rng(seed)
    return generator.multinomial(count, np.full(count, 1 / count), _DRAWS).astype(float)


def share(right: Sequence[float], clips: Sequence[str]) -> Estimate:
    """Return the fraction of right answers with an interval: Wilson's if all verdicts are 0 or 1.

    If some verdicts are means over seeds, the interval is a bootstrap over clips.
    """
    if {0.0, 1.0}.issuperset(right):
        return wilson(int(sum(right)), len(right))
    return clip_mean(right, clips)
