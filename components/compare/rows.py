"""Rows of a comparison, and the tables made from them for the page, files and the API."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gleanvid.compressors import title_of
from gleanvid.evaluation.files import finite
from gleanvid.metrics import agreement, budget_gini, diagnostics_of, same_answer
from gleanvid.plots.palette import styles
from gleanvid.run import Run

from ..jobs import clock
from .quality import quality

FIRST_TOKEN = (
    "Time to encode the clip, choose its tokens and prefill, without decoding the file. "
    "Median of several passes, with the shortest and longest in brackets"
)
MATTERED = (
    "Fraction of token relevance (for the answer with all tokens) that lies on the kept tokens, "
    "averaged over layers. It shows what this model used, not what is true"
)
RANK = (
    "Effective rank of all kept tokens, divided by that of as many random tokens: above 1 they "
    "are more diverse"
)
MISSED = (
    "Energy of dropped tokens that kept ones do not explain, divided by that of random keeping: "
    "lower is better"
)
COLUMNS = (  # columns of the table: title, unit, meaning
    ("Tokens", "kept", "Visual tokens that enter the language model"),
    ("Mattered", "% kept", MATTERED),
    ("First token", "s", FIRST_TOKEN),
    ("Compress", "ms", "Time to choose the tokens to keep"),
    ("Memory", "MiB", "Peak memory of the device while answering"),
    ("Saved", "% FLOPs", "Prefill FLOPs saved, compared with all tokens"),
    ("Gini", "0–1", "How unevenly tokens are kept over time: 0 if all units are equal"),
    ("Rank", "× random", RANK),
    ("New", "%", "Energy of kept tokens, after the first unit, that earlier units do not explain"),
    ("Missed", "× random", MISSED),
)
NONE = "–"
OVER = ("done", "failed")


@dataclass(frozen=True)
class Row:
    """A row of the comparison table: a compressor at one retention ratio."""

    label: str
    method: str = ""  # name of the compressor
    state: str = "waiting"  # "waiting", "running", "done" or "failed"
    step: str = ""  # name of the current step, such as "what mattered", while the row is running
    run: Run | None = None
    run_id: str = ""
    error: str = ""
    mattered: float = math.nan  # fraction of the relevance that lies on the kept tokens
    others: tuple[tuple[str, Run], ...] = ()  # id and run of each question after the first

    @property
    def runs(self) -> dict[str, Run]:
        """The run of each question by its id, in the order of the questions."""
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
        settings: the page's settings by URL parameter. Once one of them changes, the page marks
            the table as outdated.
        caveat: warning that the answers mean nothing, empty for none.
        questions: every question with its right answer, if known.
        busy: warning that the measured times are unreliable, empty for none.
        clips: file name of the clip of every question; empty if all are about the page's clip.
    """

    question: str = ""
    clip: str = ""
    expected: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    caveat: str = ""
    questions: Sequence[tuple[str, str | None]] = ()
    busy: str = ""
    clips: Sequence[str] = ()


def table_view(rows: Sequence[Row], asked: Asked, done: bool = False) -> dict[str, Any]:
    """Return the content of the table on the page, ready for JSON.

    The first row is the one that keeps all tokens. ``done``: whether the comparison has ended;
    unfinished rows are then left out.
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
        "each": _each(row, asked) if len(asked.questions) > 1 or asked.clips else [],
        "quality": _quality(row, asked, references),
        "ratio": ratio if isinstance(ratio, float) and ratio < 1 else None,
        "parts": clock.parts(row.run.cost) if row.run else [],
        "spread": spread and list(spread),
        "id": row.run_id,
        "colour": look["line"]["color"],
        "dash": look["line"]["dash"],
        "symbol": look["marker"]["symbol"],
        "cells": {
            title: [figure_text(value), finite(value)] for title, value in figures(row).items()
        },
    }


def _each(row: Row, asked: Asked) -> list[dict[str, Any]]:
    """Return for each question this row's answer, whether it is right, and the id of its run."""
    clips = asked.clips or [""] * len(asked.questions)
    found = zip(asked.questions, clips, row.runs.items(), strict=False)
    return [
        {
            "question": question,
            "answer": run.answer,
            "expected": expected,
            "right": same_answer(run.answer, expected) if expected is not None else None,
            "id": run_id,
        }
        | ({"clip": clip} if clip else {})
        for (question, expected), clip, (run_id, run) in found
    ]


def _quality(row: Row, asked: Asked, references: Sequence[str]) -> dict[str, Any] | None:
    """Return the quality of a row's answers; None without answers or with ``asked.caveat``."""
    if row.run is None or not row.run.question or asked.caveat:
        return None
    answers = [run.answer for run in row.runs.values()]
    truths = [truth for _, truth in asked.questions] or [asked.expected]
    return quality(answers, truths, references)


def settled(value: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the content from :func:`table_view` without unfinished rows, after a stop."""
    if not value:
        return value
    return value | {"rows": [row for row in value["rows"] if row["state"] in OVER], "done": True}


def figures(row: Row) -> dict[str, float | int]:
    """Return the numbers of a row by the titles of ``COLUMNS``, NaN if missing."""
    run = row.run
    if run is None:
        return {title: math.nan for title, _, _ in COLUMNS}
    cost, found = run.cost, diagnostics_of(run)
    return {
        "Tokens": cost.visual_tokens_kept,
        "Mattered": 100 * row.mattered,
        "First token": cost.ttft_s,
        "Compress": 1000 * cost.compress_s,
        "Memory": run.device_memory_mib,
        "Saved": 100 * cost.flops_reduction,
        "Gini": budget_gini(run.compression),
        "Rank": found.rank_vs_random if found else math.nan,
        "New": 100 * found.later_residual_energy if found else math.nan,
        "Missed": found.coverage_vs_random if found else math.nan,
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
    """Return the rows as name -> number or text, for files and the API."""
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
        "relevance_kept_percent": 100 * row.mattered,
    }
