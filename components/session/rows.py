"""The rows of a comparison: what a card and a line of the table say. No widgets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from gleanvid.metrics import agreement, marked
from gleanvid.run import Run

COLUMNS = (  # title, unit; in the order of :func:`figures`
    ("Tokens", "entering"),
    ("Kept", "%"),
    ("First token", "s"),
    ("Speed", "tokens/s"),
    ("Compress", "ms"),
    ("Peak memory", "MiB"),
    ("Prefill", "GMAC"),
    ("Saved", "%"),
    ("Same words", "0–1"),
    ("Log-prob.", "nats/token"),
)
NONE = "–"
OVER = ("done", "failed")


@dataclass(frozen=True)
class Row:
    """One method in a comparison: waiting, running, done or failed."""

    label: str
    state: str = "waiting"
    run: Run | None = None
    run_id: str = ""
    viewed: bool = False  # whether the viewer has it
    error: str = ""
    score: float = math.nan  # mean log-probability of the full-token answer


def table_view(rows: list[Row]) -> dict[str, Any]:
    """The value of the comparison on the page. The first row is the full-token one."""
    reference = rows[0].run.answer if rows and rows[0].run else None
    lines = []
    for row in rows:
        line: dict[str, Any] = {"label": row.label, "state": row.state, "error": row.error}
        line |= {"answer": [], "cells": [NONE] * len(COLUMNS), "viewed": row.viewed}
        if row.run is not None:
            line |= {
                "answer": words(row.run.answer, reference),
                "cells": [figure_text(value) for value in figures(row, reference)],
            }
        lines.append(line)
    return {"columns": [list(column) for column in COLUMNS], "rows": lines}


def settled(value: dict[str, Any] | None) -> dict[str, Any] | None:
    """What :func:`table_view` gave, without the rows that will not finish any more."""
    if not value:
        return value
    return value | {"rows": [line for line in value["rows"] if line["state"] in OVER]}


def words(answer: str, reference: str | None) -> list[list[Any]]:
    """The answer in pieces, each with whether it differs from the full-token answer."""
    if reference is None:
        return [[answer, False]]
    return [list(piece) for piece in marked(answer, reference)]


def figures(row: Row, reference: str | None) -> list[float | int]:
    """The numbers of a row, in the order of ``COLUMNS``; NaN where there is none."""
    run = row.run
    if run is None:
        return [math.nan] * len(COLUMNS)
    cost = run.cost
    return [
        cost.visual_tokens_kept,
        100 * cost.average_retention,
        cost.ttft_s,
        cost.tokens_per_s,
        1000 * cost.compress_s,
        cost.peak_memory_mib,
        cost.prefill_flops / 1e9,
        100 * cost.flops_reduction,
        math.nan if reference is None else agreement(run.answer, reference),
        row.score,
    ]


def figure_text(value: float | int) -> str:
    """A figure with three digits that count; a whole number in full."""
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return NONE
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def table(rows: list[Row]) -> list[dict[str, Any]]:
    """The rows as plain numbers, for files and the API."""
    reference = rows[0].run.answer if rows and rows[0].run else None
    names = ("tokens", "retention_percent", "ttft_s", "tokens_per_s", "compress_ms",
             "peak_memory_mib", "prefill_gmac", "flops_saved_percent", "agreement",
             "mean_log_probability")  # fmt: skip
    return [
        {"method": row.label, "answer": row.run.answer if row.run else None, "error": row.error}
        | {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in zip(names, figures(row, reference), strict=True)
        }
        for row in rows
    ]
