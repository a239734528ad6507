"""Spatial IoU of kept positions against the frame gap, beside random selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from gleanvid.plots.paper.layout import legend_above, lines_of, new_figure, paper_style, random_line


def spatial_iou(
    curves: Mapping[str, Sequence[float]], random: Sequence[float], names: Sequence[str] = ()
) -> Figure:
    """``curves``: method -> IoU at gaps 1, 2, ...; ``random``: the same for random positions;
    ``names``: all methods of the paper, in order.
    """
    with paper_style():
        figure = new_figure()
        axes = figure.subplots()
        for (name, values), style in zip(
            curves.items(), lines_of(list(curves), names), strict=True
        ):
            axes.plot(range(1, len(values) + 1), values, label=name, **style)
        axes.plot(range(1, len(random) + 1), random, **random_line())
        axes.set(xlabel="gap in temporal units", ylabel="spatial IoU", ylim=(0, None))
        legend_above(figure)
    return figure
