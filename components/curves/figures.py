"""The content of the tab Curves: all figures in ``plots.FIGURES``, and one legend for them."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from gleanvid.metrics import (
    RandomKeeping,
    budget_gini,
    debiased,
    diagnose,
    diagnostics_of,
    random_keeping,
    with_diagnostics,
)
from gleanvid.plots import FIGURES
from gleanvid.plots.labels import labels, title_of
from gleanvid.plots.palette import styles
from gleanvid.plots.registry import Figure
from gleanvid.run import Run
from gleanvid.types import VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

COLUMNS = (  # columns of the legend: title, unit, meaning
    ("Budget Gini", "0–1", "How unevenly tokens are kept over time: 0 if all units are equal"),
    (
        "Rank",
        "× random",
        "Effective rank of the kept tokens, divided by that of as many random tokens: above 1 they "
        "are more diverse",
    ),
    (
        "New",
        "%",
        "Energy of kept tokens that earlier units do not explain, averaged from the second unit on",
    ),
    (
        "Missed",
        "× random",
        "Energy of dropped tokens that kept ones do not explain, divided by that of random "
        "keeping: lower is better. Shown as – if random keeping explains everything",
    ),
)
NONE = "–"
MARGINS = {"l": 52, "r": 8, "t": 6, "b": 38}
HEIGHT = 204  # height of a figure in pixels

_debiased: WeakKeyDictionary[VideoTokens, Tensor] = WeakKeyDictionary()
_random: WeakKeyDictionary[VideoTokens, dict[int, RandomKeeping]] = WeakKeyDictionary()
_measuring = threading.Lock()


def draw(runs: Sequence[Run]) -> dict[str, Any]:
    """Draw all figures; return them by name, None for a figure that these runs cannot fill."""
    return {
        name: _for_page(figure, list(runs)) if figure.needs(runs) else None
        for name, figure in FIGURES.items()
    }


def _for_page(kind: Figure, runs: list[Run]) -> Any:
    """Draw a figure without title and legend, because the page has its own."""
    figure = kind.draw(runs)
    methods = [str(run.compressor["name"]) for run in runs]
    by_label = dict(zip(labels(runs), styles(methods), strict=True))
    for line in figure.data:
        line.name = line.meta or line.name
        if line.type == "scatter" and line.name in by_label:
            # Use the style of the legend: a curve then looks the same in every figure.
            line.update(by_label[line.name])
            line.zorder = int(line.line.width > 2)  # draw GleanVID, the thick curve, on top
    figure.update_layout(height=HEIGHT, margin=MARGINS, showlegend=False)
    # Plotly's default template would make the JSON of every figure much larger.
    figure.update_layout(font={"size": 12}, template="none")
    figure.update_yaxes(title=None)
    figure.update_xaxes(title=None)
    if kind.x:
        units = max(run.compression.grid[0] for run in runs)
        figure.update_xaxes(title=_axis(runs[0]), range=[0.5, units + 0.5])
    return figure


def _axis(run: Run) -> dict[str, Any]:
    """Return the title of an x-axis that counts temporal units, with the seconds per unit."""
    starts = run.seconds[:, 0]
    each = float(starts[-1] - starts[0]) / (len(starts) - 1) if len(starts) > 1 else 0.0
    return {"text": f"unit, {each:.3g} s each" if each else "unit", "font": {"size": 11}}


def legend(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the legend: for every run its name, line style and numbers (see ``COLUMNS``)."""
    methods = [str(run.compressor["name"]) for run in runs]
    rows = [
        {
            "label": label,
            "method": title_of(run),
            "colour": style["line"]["color"],
            "dash": style["line"]["dash"],
            "symbol": style["marker"]["symbol"],
            "cells": _cells(run),
        }
        for run, label, style in zip(runs, labels(runs), styles(methods), strict=True)
    ]
    return {"columns": [list(column) for column in COLUMNS], "rows": rows}


def _cells(run: Run) -> list[str]:
    """Return a run's numbers in the legend as text, in the order of ``COLUMNS``."""
    record, diagnostics = run.compression, diagnostics_of(run)
    gini = f"{budget_gini(record):.2f}"
    if diagnostics is None:
        return [gini, NONE, NONE, NONE]
    new = f"{100 * diagnostics.later_residual_energy:.2g}"
    # If a run keeps all tokens, a random selection would be the same: nothing is compared.
    if record.num_kept == record.num_tokens:
        return [gini, NONE, new, NONE]
    missed = diagnostics.coverage_vs_random
    return [
        gini,
        f"{diagnostics.rank_vs_random:.2f}",
        new,
        NONE if missed != missed else f"{missed:.2g}",
    ]


def as_json(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the content of the tab Curves, ready for JSON: figures by name, and the legend."""
    figures = {name: figure and json.loads(figure.to_json()) for name, figure in draw(runs).items()}
    return figures | {"legend": legend(runs)}


def measured(runs: Sequence[Run], tokens: VideoTokens | None) -> list[Run]:
    """Return the runs with diagnostics: ranks and energies of their kept tokens.

    ``tokens``: all encoded tokens of the clip; if None, the runs are returned unchanged.
    """
    if tokens is None:
        return list(runs)
    with _measuring:  # without this lock, two pages would compute the same diagnostics
        features = _debiased.get(tokens)
        if features is None:
            features = _debiased[tokens] = debiased(tokens.features.float())
        known = _random.setdefault(tokens, {})
        return [run if diagnostics_of(run) else _diagnosed(run, features, known) for run in runs]


def _diagnosed(run: Run, features: Tensor, known: dict[int, RandomKeeping]) -> Run:
    """Return the run with diagnostics; ``known`` caches random keeping by number of tokens."""
    record = run.compression
    if record.num_tokens != len(features):
        return run
    if record.num_kept not in known:
        known[record.num_kept] = random_keeping(features, record.grid, record.num_kept)
    found = diagnose(features, record.to(features.device), known[record.num_kept])
    return with_diagnostics(run, found)
