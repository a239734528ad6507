"""Rows of a comparison, and their tables for the page, for files and for the API."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from gleanvid.compressors import title_of
from gleanvid.evaluation.files import finite
from gleanvid.evaluation.tables.statistics import wilson
from gleanvid.metrics import agreement, same_answer
from gleanvid.plots.palette import styles
from gleanvid.run import Run

from .. import clock
from ..answers import label_recall, labels_of

FIRST_TOKEN = (
    "Encoding the clip, choosing its tokens and prefill; decoding the file is not in it. "
    "Median of the passes, least and most in brackets"
)
MATTERED = (
    "How much is kept of what the answer of all tokens rests on: a measure of this model's use of "
    "its input, not of truth"
)
COLUMNS = (  # title, unit, meaning; see :func:`figures`
    ("Tokens", "kept", "Visual tokens that enter the language model"),
    ("Labels", "% of all", "Labels of all tokens that kept tokens still show: recall"),
    ("Mattered", "% kept", MATTERED),
    ("First token", "s", FIRST_TOKEN),
    ("Compress", "ms", "Choosing the tokens"),
    ("Memory", "MiB", "Peak memory of the device while answering"),
    ("Saved", "% FLOPs", "Prefill FLOPs saved, compared with all tokens"),
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
    step: str = ""  # how far it is while it runs
    run: Run | None = None
    run_id: str = ""
    error: str = ""
    score: float = math.nan  # mean log-probability of the full-token answer
    mattered: float = math.nan  # fraction of the relevance that is kept
    others: tuple[tuple[str, Run], ...] = ()  # ids and runs of the questions after the first

    @property
    def runs(self) -> dict[str, Run]:
        """The runs of all questions by their ids, in the order of the questions."""
        return ({self.run_id: self.run} if self.run else {}) | dict(self.others)


def finished(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that are done or failed."""
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
        questions: every question with its right answer, if known; more than one for a list.
        busy: warning about the times, empty for none.
    """

    question: str = ""
    clip: str = ""
    expected: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    caveat: str = ""
    questions: Sequence[tuple[str, str | None]] = ()
    busy: str = ""


def table_view(rows: Sequence[Row], asked: Asked, done: bool = False) -> dict[str, Any]:
    """Return the value of the table on the page. The first row is that of all tokens.

    ``done``: the comparison has ended; rows that did not finish are left out.
    """
    kept = finished(rows) if done else rows
    looks = styles([row.method for row in kept])
    references = [run.answer for run in kept[0].runs.values()] if kept else []
    return {
        "asked": {
            "question": asked.question,
            "clip": asked.clip,
            "expected": asked.expected,
            "settings": dict(asked.settings),
            "caveat": asked.caveat,
            "count": len(asked.questions) or 1,
            "busy": asked.busy,
        },
        "columns": [list(column) for column in COLUMNS],
        "rows": [
            _line(row, asked, look, references) for row, look in zip(kept, looks, strict=True)
        ],
        "done": done,
    }


def _line(
    row: Row, asked: Asked, look: Mapping[str, Any], references: Sequence[str]
) -> dict[str, Any]:
    answer = row.run.answer if row.run else None
    judged = answer is not None and asked.expected is not None
    ratio = row.run.compressor.get("retention_ratio") if row.run else None
    spread = clock.spread(row.run) if row.run else None
    return {
        "label": row.label,
        "method": title_of(row.method),
        "state": row.state,
        "step": row.step,
        "error": row.error,
        "answer": answer,
        "right": same_answer(answer or "", asked.expected or "") if judged else None,
        "each": _each(row, asked) if len(asked.questions) > 1 else [],
        "quality": _quality(row, asked, references),
        "ratio": ratio if isinstance(ratio, float) and ratio < 1 else None,
        "parts": clock.parts(row.run.cost) if row.run else [],
        "spread": spread and list(spread),
        "id": row.run_id,
        "colour": look["line"]["color"],
        "dash": look["line"]["dash"],
        "symbol": look["marker"]["symbol"],
        "labels": labels_of(row.run) if row.run else None,
        "cells": {
            title: [figure_text(value), finite(value)] for title, value in figures(row).items()
        },
    }


def _each(row: Row, asked: Asked) -> list[dict[str, Any]]:
    """Return every question of a list with this row's answer, its verdict and its run."""
    pairs = zip(asked.questions, row.runs.items(), strict=False)
    return [
        {
            "question": question,
            "answer": run.answer,
            "expected": expected,
            "right": same_answer(run.answer, expected) if expected is not None else None,
            "id": run_id,
        }
        for (question, expected), (run_id, run) in pairs
    ]


def _quality(row: Row, asked: Asked, references: Sequence[str]) -> dict[str, Any] | None:
    """Return the quality of a row's answers in [0, 1]; None if unknown.

    The fraction that is right, with Wilson's interval, where the right answers are known; else the
    mean agreement with the answers of all tokens. None where words mean nothing.
    """
    if row.run is None or not row.run.question or asked.caveat:
        return None
    answers = [run.answer for run in row.runs.values()]
    truths = [truth for _, truth in asked.questions] or [asked.expected]
    pairs = zip(answers, truths, strict=False)
    verdicts = [same_answer(answer, truth) for answer, truth in pairs if truth is not None]
    if verdicts:
        found = wilson(sum(verdicts), len(verdicts))
        counts = {"right": sum(verdicts), "of": len(verdicts)}
        return counts | {"value": found.value, "low": found.low, "high": found.high}
    alike = [agreement(*pair) for pair in zip(answers, references, strict=False)]
    return {"value": fmean(alike)} if alike else None


def settled(value: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the value of :func:`table_view` after a stop, without unfinished rows."""
    if not value:
        return value
    return value | {"rows": [row for row in value["rows"] if row["state"] in OVER], "done": True}


def earlier(value: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the value of :func:`table_view`, marked as older than a comparison without a row."""
    return value and value | {"earlier": True}


def figures(row: Row) -> dict[str, float | int]:
    """Return the numbers of a row by the titles of ``COLUMNS``, NaN if missing."""
    run = row.run
    if run is None:
        return {title: math.nan for title, _, _ in COLUMNS}
    cost = run.cost
    return {
        "Tokens": cost.visual_tokens_kept,
        "Labels": 100 * label_recall(run),
        "Mattered": 100 * row.mattered,
        "First token": cost.ttft_s,
        "Compress": 1000 * cost.compress_s,
        "Memory": run.device_memory_mib,
        "Saved": 100 * cost.flops_reduction,
        "Log-prob.": row.score,
    }


def figure_text(value: float | int) -> str:
    """Format a number with three significant digits, or an integer in full."""
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return NONE
    size = abs(value)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 0.1 or not size else 3
    return f"{value:,.{digits}f}".replace("-", "−")


def table(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows as plain numbers, for files and the API."""
    reference = rows[0].run.answer if rows and rows[0].run else None
    return [
        {"method": row.label, "answer": row.run.answer if row.run else None, "error": row.error}
        | finite(_numbers(row, reference))
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
        "peak_memory_mib": run.device_memory_mib if run else none,
        "prefill_gmac": cost.prefill_flops / 1e9 if cost else none,
        "flops_saved_percent": 100 * cost.flops_reduction if cost else none,
        "agreement": agreement(run.answer, reference) if run and reference is not None else none,
        "mean_log_probability": row.score,
        "label_recall": label_recall(run) if run else none,
    }
