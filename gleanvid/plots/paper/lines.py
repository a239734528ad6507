"""Line charts with one line per method: budgets, effective dimension and spatial IoU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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


def effective_dimension(
    curves: Mapping[str, Mapping[float, float]], names: Sequence[str] = ()
) -> Figure:
    """Draw the effective dimension of the kept tokens against the retention ratio (Fig. 1(c)).

    ``curves``: for each method, its effective rank by retention ratio. ``names``: all methods of
    the paper, in order, so that a method looks the same in every figure.
    """
    with paper_style():
        figure = new_figure()
        axes = figure.subplots()
        for (name, points), style in zip(
            curves.items(), lines_of(list(curves), names), strict=True
        ):
            shares = sorted(points)
            percent = [100 * share for share in shares]
            axes.plot(percent, [points[share] for share in shares], label=name, **style)
        axes.set(xlabel="visual tokens kept (%)", ylabel="effective rank", ylim=(0, None))
        axes.invert_xaxis()  # lower ratios to the right, as in the paper
        legend_above(figure)
    return figure


def spatial_iou(
    curves: Mapping[str, Sequence[float]], random: Sequence[float], names: Sequence[str] = ()
) -> Figure:
    """Draw the spatial IoU of the positions kept in two units against the gap between the units.

    ``curves``: for each method, the IoU at gaps of 1, 2, ... units. ``random``: the same for random
    positions. ``names``: all methods of the paper, in order.
    """
    with paper_style():
        figure = new_figure()
        axes = figure.subplots()
        for (name, values), style in zip(
            curves.items(), lines_of(list(curves), names), strict=True
        ):
            axes.plot(range(1, len(values) + 1), values, label=name, **style)
        gaps = range(1, len(random) + 1)
        axes.plot(gaps, random, color=GREY, linestyle="--", label="random positions")
        axes.set(xlabel="gap in temporal units", ylabel="spatial IoU", ylim=(0, None))
        legend_above(figure)
    return figure
