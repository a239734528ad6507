"""The rows of a comparison, and the table of them on the page, in files and in the API."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gleanvid.compressors import title_of
from gleanvid.metrics import agreement, same_answer
from gleanvid.plots.palette import styles
from gleanvid.run import Run

COLUMNS = (  # title, unit, what it is; in the order of :func:`figures`
    ("Tokens", "kept", "Visual tokens that enter the language model"),
    ("First token", "s", "From the question to the first word; the clip was encoded before"),
    ("Compress", "ms", "Choosing the tokens"),
    ("Memory", "MiB", "Peak while answering"),
    ("Saved", "% FLOPs", "Of the arithmetic of the prefill, against all tokens"),
    ("Log-prob.", "nats/token", "Mean log-probability of the all-token answer: 0 is certain"),
)
NONE = "–"
OVER = ("done", "failed")


@dataclass(frozen=True)
class Row:
    """One method in a comparison: waiting, running, done or failed."""

    label: str
    method: str = ""  # its name
    state: str = "waiting"
    run: Run | None = None
    run_id: str = ""
    error: str = ""
    score: float = math.nan  # mean log-probability of the full-token answer


def finished(rows: Sequence[Row]) -> list[Row]:
    """The rows that are done or failed."""
    return [row for row in rows if row.state in OVER]


@dataclass(frozen=True)
class Asked:
    """The question and settings of a comparison.

    Attributes:
        question: the question.
        clip: name of the file of the clip.
        expected: the right answer, if known.
        settings: settings by their names in a link; the table is stale once one of them changes.
        caveat: warning about the answers, empty for none.
    """

    question: str = ""
    clip: str = ""
    expected: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    caveat: str = ""


def table_view(rows: Sequence[Row], asked: Asked, done: bool = False) -> dict[str, Any]:
    """The value of the table on the page. The first row is that of all tokens.

    ``done``: the comparison has ended; rows that did not finish are left out.
    """
    kept = finished(rows) if done else rows
    looks = styles([row.method for row in kept])
    return {
        "asked": {
            "question": asked.question,
            "clip": asked.clip,
            "expected": asked.expected,
            "settings": dict(asked.settings),
            "caveat": asked.caveat,
        },
        "columns": [list(column) for column in COLUMNS],
        "rows": [_line(row, asked, look) for row, look in zip(kept, looks, strict=True)],
        "done": done,
    }


def _line(row: Row, asked: Asked, look: Mapping[str, Any]) -> dict[str, Any]:
    answer = row.run.answer if row.run else None
    judged = answer is not None and asked.expected is not None
    return {
        "label": row.label,
        "method": title_of(row.method),
        "state": row.state,
        "error": row.error,
        "answer": answer,
        "right": same_answer(answer or "", asked.expected or "") if judged else None,
        "id": row.run_id,
        "colour": look["line"]["color"],
        "dash": look["line"]["dash"],
        "symbol": look["marker"]["symbol"],
        "cells": [[figure_text(value), _finite(value)] for value in figures(row)],
    }


def settled(value: dict[str, Any] | None) -> dict[str, Any] | None:
    """The value of :func:`table_view` after a stop: without rows that did not finish."""
    if not value:
        return value
    return value | {"rows": [row for row in value["rows"] if row["state"] in OVER], "done": True}


def earlier(value: dict[str, Any] | None) -> dict[str, Any] | None:
    """The value of :func:`table_view`, marked as older than a comparison without a row."""
    return value and value | {"earlier": True}


def figures(row: Row) -> list[float | int]:
    """The numbers of a row in the order of ``COLUMNS``, NaN for those it has not."""
    run = row.run
    if run is None:
        return [math.nan] * len(COLUMNS)
    cost = run.cost
    return [
        cost.visual_tokens_kept,
        cost.ttft_s,
        1000 * cost.compress_s,
        cost.peak_memory_mib,
        100 * cost.flops_reduction,
        row.score,
    ]


def figure_text(value: float | int) -> str:
    """A number with three significant digits, or an integer in full."""
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return NONE
    size = abs(value)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 0.1 or not size else 3
    return f"{value:,.{digits}f}".replace("-", "−")


def _finite(value: float | int) -> float | int | None:
    """JSON has no NaN: a figure that was not measured is null."""
    return value if math.isfinite(value) else None


def table(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows as plain numbers, for files and the API."""
    reference = rows[0].run.answer if rows and rows[0].run else None
    return [
        {"method": row.label, "answer": row.run.answer if row.run else None, "error": row.error}
        | {name: _finite(value) for name, value in _numbers(row, reference).items()}
        for row in rows
    ]


def _numbers(row: Row, reference: str | None) -> dict[str, float]:
    run, none = row.run, math.nan
    cost = run.cost if run else None
    return {
        "tokens": cost.visual_tokens_kept if cost else none,
        "retention_percent": 100 * cost.average_retention if cost else none,
        "ttft_s": cost.ttft_s if cost else none,
        "tokens_per_s": cost.tokens_per_s if cost else none,
        "compress_ms": 1000 * cost.compress_s if cost else none,
        "peak_memory_mib": cost.peak_memory_mib if cost else none,
        "prefill_gmac": cost.prefill_flops / 1e9 if cost else none,
        "flops_saved_percent": 100 * cost.flops_reduction if cost else none,
        "agreement": agreement(run.answer, reference) if run and reference is not None else none,
        "mean_log_probability": row.score,
    }
