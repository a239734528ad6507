"""Formats the numbers of results for table cells. An unknown number is an empty cell."""

from __future__ import annotations

import math

from gleanvid.evaluation.tables.statistics import Estimate
from gleanvid.evaluation.tables.summary import Result


def who(result: Result) -> list[str]:
    """The first cells of a row: method, share asked for, frames."""
    setup = result.setup
    return [setup.title, f"{setup.retention_ratio:.0%}", str(setup.num_frames)]


def percent(value: float | Estimate | None) -> str:
    """A share: 86.0."""
    share = value.value if isinstance(value, Estimate) else value
    return "" if share is None or math.isnan(share) else f"{100 * share:.1f}"


def points(difference: Estimate) -> str:
    """A difference of shares: +2.4."""
    return f"{100 * difference.value:+.1f}"


def span(estimate: Estimate, signed: bool = False) -> str:
    """An interval of shares: 83.8–89.7, or of differences: -0.5 to +3.1."""
    if math.isnan(estimate.low):
        return ""
    low, high = 100 * estimate.low, 100 * estimate.high
    return f"{low:+.1f} to {high:+.1f}" if signed else f"{low:.1f}–{high:.1f}"


def half_width(estimate: Estimate) -> str:
    """A share with half the width of its interval: 97.8 ± 5.6."""
    return f"{100 * estimate.value:.1f} ± {50 * (estimate.high - estimate.low):.1f}"


def p_value(value: float | None) -> str:
    if value is None:
        return ""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def coefficient(value: float | None) -> str:
    """A correlation: +0.31."""
    return "" if value is None or math.isnan(value) else f"{value:+.2f}"
