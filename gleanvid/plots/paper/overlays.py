"""Overlays for papers: a row per run, a column per temporal unit, dropped tokens dark."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from matplotlib.figure import Figure

from gleanvid.plots.labels import labels
from gleanvid.plots.overlay import overlay_frame
from gleanvid.plots.paper.layout import PAGE, legend_above, new_figure, paper_style
from gleanvid.plots.paper.lines import draw_curves, measured
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
    columns, tall = _layout(runs, units)
    with paper_style():
        figure = new_figure(PAGE, tall + 0.15 * len(textwrap.wrap(title, _LETTERS)))
        _draw(figure, runs, columns, title, progress)
    return figure


def composed(
    runs: Sequence[Run],
    units: Sequence[int] | None = None,
    title: str = "",
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
    names: Sequence[str] = ("budget", "novelty", "rank"),
) -> Figure:
    """Draw one figure of :func:`overlays` and, below them, of the curves ``names``.

    The arguments are those of :func:`overlays` and :func:`gleanvid.plots.paper.curves`.
    """
    columns, tall = _layout(runs, units)
    known = measured(runs, names)
    with paper_style():
        top = tall + 0.15 * len(textwrap.wrap(title, _LETTERS))
        low = 0.6 + 0.9 * len(known)
        figure = new_figure(PAGE, top + low)
        parts: Any = figure.subfigures(2, 1, height_ratios=[top, low])
        above, below = parts
        _draw(above, runs, columns, title, progress)
        draw_curves(below, runs, known)
        legend_above(below)
    return figure


def _layout(runs: Sequence[Run], units: Sequence[int] | None) -> tuple[list[int], float]:
    """Return the units to show, and the height of their frames in inches."""
    if not runs:
        raise ValueError("runs must hold at least one run")
    columns = list(units) if units is not None else _columns(runs)
    height, width = runs[0].video.frames.shape[1:3]
    side = PAGE / len(columns)
    return columns, len(runs) * (side * min(height / width, _TALLEST) + _ROW)


def _draw(
    figure: Any,
    runs: Sequence[Run],
    columns: Sequence[int],
    title: str,
    progress: Callable[[Iterable[Any]], Iterable[Any]],
) -> None:
    """Draw the frames into a matplotlib figure or subfigure."""
    plain = {"x": 0.01, "ha": "left", "fontsize": 8, "parse_math": False}
    figure.suptitle("\n".join(textwrap.wrap(title, _LETTERS)), **plain)
    grid = figure.subplots(len(runs), len(columns), squeeze=False)
    for row, run, label in zip(grid, runs, labels(runs), strict=True):
        counts = run.compression.budgets.tolist()
        for axes, unit in progress(zip(row, columns, strict=True)):
            axes.imshow(overlay_frame(run, unit))
            axes.set(xticks=[], yticks=[])
            axes.set_xlabel(f"{float(run.seconds[unit, 0]):.2f} s, {counts[unit]} kept")
            axes.spines[:].set_visible(False)
        said = " ".join(run.answer.split())
        above = f"{label}: “{said}”" if said else label
        above = above if len(above) <= _LETTERS else above[: _LETTERS - 1] + "…"
        row[0].set_title(above, loc="left", pad=2, parse_math=False)


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
