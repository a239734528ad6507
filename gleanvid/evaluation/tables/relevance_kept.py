"""The fraction of the relevance on the kept tokens, and its correlation with right answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gleanvid.evaluation.tables.statistics import Estimate, clip_mean, correlation


@dataclass(frozen=True)
class RelevanceKept:
    """Fractions of the relevance (:class:`gleanvid.Relevance`), as means over questions.

    ``kept``: the fraction on the kept tokens. ``best``: the largest fraction that the same number
    of tokens can have. ``random``: the mean fraction on the same number of random tokens.
    ``r``: correlation, over questions, of the fraction kept with right answers.
    """

    kept: Estimate
    best: Estimate
    random: float
    r: float


def relevance_kept(
    clips: Sequence[str], right: Sequence[float], values: Sequence[Sequence[float]]
) -> RelevanceKept | None:
    """Return means over questions, with bootstrap intervals over clips; None without ``values``.

    ``clips``: the clip of each question. ``right``: the verdict on each answer. ``values``: the
    fractions (kept, best, random) of each question.
    """
    if not values:
        return None
    kept, best, random = ([row[place] for row in values] for place in range(3))
    mean = sum(random) / len(random)
    r = correlation(kept, right)
    return RelevanceKept(clip_mean(kept, clips), clip_mean(best, clips), mean, r)
