"""Overlays for papers: a row per run, a column per temporal unit, dropped tokens dark."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from matplotlib.figure import Figure

from gleanvid.plots.labels import labels
from gleanvid.plots.overlay import overlay_frame
from gleanvid.plots.paper.layout import PAGE, new_figure, paper_style
from gleanvid.plots.style import compressed
from gleanvid.run import Run

_TALLEST = 3.0  # largest height of a frame relative to its width; taller frames are drawn smaller
_COLUMNS = 6  # default number of units shown
_LETTERS = 100  # number of characters that fit into a line as wide as the page
_ROW = 0.45  # height in inches of the text above and below the frames of a row


def overlays(
    runs: Sequence[Run],
    units: Sequence[int] | None = None,
    title: str = "",
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> Figure:
    """Draw the tokens that each run keeps on the same frames, as the paper's qualitative figure.

    Each run has a row of frames, with its method and answer above.

    Args:
        runs: Runs of one clip.
        units: Units to show, counted from 0. None: six evenly spaced units. One of them is replaced
            by the unit with the largest budget in the first run that drops tokens; the clip's
            first unit is not considered for this.
        title: Text above all rows.
        progress: Wraps the iterable of columns of each row, as ``tqdm`` does.

    Raises:
        ValueError: There is no run.
    """
    if not runs:
        raise ValueError("runs must hold at least one run")
    columns = list(units) if units is not None else _columns(runs)
    height, width = runs[0].video.frames.shape[1:3]
    side = PAGE / len(columns)
    lines = textwrap.wrap(title, _LETTERS)
    row_height = side * min(height / width, _TALLEST) + _ROW
    with paper_style():
        figure = new_figure(PAGE, len(runs) * row_height + 0.15 * len(lines))
        plain = {"x": 0.01, "ha": "left", "fontsize": 8, "parse_math": False}
        figure.suptitle("\n".join(lines), **plain)
        grid = figure.subplots(len(runs), len(columns), squeeze=False)
        for row, run, label in zip(grid, runs, labels(runs), strict=True):
            counts = run.compression.budgets.tolist()
            for axes, unit in progress(zip(row, columns, strict=True)):
                axes.imshow(overlay_frame(run, unit))
                axes.set(xticks=[], yticks=[])
                axes.set_xlabel(f"{float(run.seconds[unit, 0]):.1f} s, {counts[unit]} kept")
                axes.spines[:].set_visible(False)
            said = " ".join(run.answer.split())
            above = f"{label}: “{said}”" if said else label
            above = above if len(above) <= _LETTERS else above[: _LETTERS - 1] + "…"
            row[0].set_title(above, loc="left", pad=2, parse_math=False)
    return figure


def _columns(runs: Sequence[Run]) -> list[int]:
    """Choose evenly spaced units, one of them moved to the largest budget after unit 0."""
    budgets = compressed(runs)[0].compression.budgets.tolist()
    total = len(budgets)
    spread = torch.linspace(0, total - 1, min(_COLUMNS, total)).round().long().tolist()
    later = budgets[1:]
    if not later or max(later) == min(later):
        return spread
    top = 1 + later.index(max(later))
    nearest = min(range(len(spread)), key=lambda place: abs(spread[place] - top))
    return sorted({*spread[:nearest], top, *spread[nearest + 1 :]})
