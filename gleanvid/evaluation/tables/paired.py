"""GleanVID against another method on the same questions: difference, interval and p-value."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gleanvid.evaluation.tables.statistics import Estimate, mcnemar, paired_difference, sign_flip

Weights = Sequence[float] | None


@dataclass(frozen=True)
class Paired:
    """GleanVID's accuracy minus another's, with two-sided p values that are not adjusted.

    ``mcnemar`` takes every question by itself (None where a row is a mean over seeds);
    ``sign_flip`` takes clips. ``macro``: the same difference by macro-average, by its name.
    """

    difference: Estimate
    mcnemar: float | None
    sign_flip: float
    macro: Mapping[str, Estimate]


def paired(
    ours: Sequence[float],
    other: Sequence[float],
    clips: Sequence[Hashable],
    weights: Weights,
    macros: Mapping[str, Sequence[float]],
) -> Paired:
    """``weights`` of the questions in the accuracy (None: equal), and in every macro-average."""
    differences = np.subtract(ours, other, dtype=float).tolist()
    return Paired(
        paired_difference(ours, other, clips, weights),
        mcnemar_or_none(ours, other),
        sign_flip(differences, clips, weights),
        {name: paired_difference(ours, other, clips, own) for name, own in macros.items()},
    )


def mcnemar_or_none(first: Sequence[float], second: Sequence[float]) -> float | None:
    """McNemar's p, where every verdict is yes or no."""
    if not {0.0, 1.0}.issuperset([*first, *second]):
        return None
    return mcnemar([bool(value) for value in first], [bool(value) for value in second])
