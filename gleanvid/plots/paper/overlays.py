"""Overlays for papers: a row a run, a column a temporal unit, dropped tokens dark."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from matplotlib.figure import Figure

from gleanvid.plots.labels import labels
from gleanvid.plots.overlay import overlay_frame
from gleanvid.plots.paper.style import PAGE, new_figure, paper_style
from gleanvid.run import Run

_TALLEST = 3.0  # of a picture, in its widths: what is thinner is drawn smaller
_COLUMNS = 6  # units shown where none are named


def overlays(runs: Sequence[Run], units: Sequence[int] | None = None) -> Figure:
    """Runs of one clip; ``units`` from 0 (None: six, evenly spaced). Tokens kept on each frame.

    Raises ``ValueError`` for no run.
    """
    if not runs:
        raise ValueError("runs must hold at least one run")
    total = runs[0].compression.grid[0]
    spread = torch.linspace(0, total - 1, min(_COLUMNS, total)).round().long().tolist()
    columns = list(units) if units is not None else spread
    height, width = runs[0].video.frames.shape[1:3]
    side = PAGE / len(columns)
    with paper_style():
        figure = new_figure(PAGE, len(runs) * (side * min(height / width, _TALLEST) + 0.1) + 0.2)
        grid = figure.subplots(len(runs), len(columns), squeeze=False)
        for row, run, label in zip(grid, runs, labels(runs), strict=True):
            counts = run.compression.budgets.tolist()
            for axes, unit in zip(row, columns, strict=True):
                axes.imshow(overlay_frame(run, unit))
                axes.set(xticks=[], yticks=[])
                axes.set_title(f"{float(run.seconds[unit, 0]):.1f} s, {counts[unit]} kept", pad=2)
                axes.spines[:].set_visible(False)
            row[0].set_ylabel(label)
    return figure
