"""The relevance that a setup keeps, and its correlation with right answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gleanvid.evaluation.tables.correlations import correlation
from gleanvid.evaluation.tables.statistics import Estimate, clip_mean


@dataclass(frozen=True)
class RelevanceKept:
    """Means over questions, fractions in [0, 1]; see :class:`gleanvid.Relevance`.

    ``best``: the largest fraction that the same number of tokens could keep; ``random``: the
    fraction that this number of random tokens keeps on average. ``r``: correlation of ``kept`` with
    being right.
    """

    kept: Estimate
    best: Estimate
    random: float
    r: float


def relevance_kept(
    clips: Sequence[str], right: Sequence[float], values: Sequence[Sequence[float]]
) -> RelevanceKept | None:
    """Average ``values``, a triple (kept, best, random) per question, with intervals over clips.

    Return None if ``values`` is empty. ``right``: verdict on each answer.
    """
    if not values:
        return None
    kept, best, random = ([row[place] for row in values] for place in range(3))
    mean = sum(random) / len(random)
    r = correlation(kept, right)
    return RelevanceKept(clip_mean(kept, clips), clip_mean(best, clips), mean, r)
