"""Line chart of the budgets, with one line per method."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from gleanvid.plots.palette import GREY
from gleanvid.plots.paper.layout import legend_above, lines_of, new_figure, paper_style
from gleanvid.run import Run


def budgets(runs: Sequence[Run]) -> Figure:
    """Draw each unit's number of kept tokens, relative to their mean, against time in seconds."""
    names = [str(run.compressor["name"]) for run in runs]
    with paper_style():
        figure = new_figure()
        axes = figure.subplots()
        for run, name, style in zip(runs, names, lines_of(names), strict=True):
            kept = run.compression.budgets.double()
            axes.plot(run.seconds[:, 0], kept / kept.mean(), label=name, **style)
        axes.axhline(1.0, color=GREY, linestyle="--", label="uniform budget B/T")
        axes.set(xlabel="time (s)", ylabel="budget / (B/T)", ylim=(0, None))
        legend_above(figure)
    return figure
