"""Correlations of two lists of numbers; NaN where one of the two does not vary."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gleanvid.evaluation.tables.statistics import check_equally_many


def correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Pearson's r; NaN where one of the two does not vary."""
    check_equally_many(first, second)
    x, y = (np.asarray(part, dtype=float) - np.mean(part) for part in (first, second))
    spread = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / spread if spread > 0 else math.nan


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Spearman's rank correlation; NaN where one of the two does not vary."""
    return correlation(*(_ranks(np.asarray(part, dtype=float)) for part in (first, second)))


def _ranks(values: np.ndarray) -> Sequence[float]:
    """Return the rank of every value; equal values get the mean of their ranks."""
    ordered = np.sort(values)
    first, after = (np.searchsorted(ordered, values, side=side) for side in ("left", "right"))
    return ((first + after - 1) / 2).tolist()
