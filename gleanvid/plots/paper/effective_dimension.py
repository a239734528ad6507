"""Effective dimension of the kept tokens against the retention ratio (Fig. 1(c))."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from gleanvid.plots.paper.layout import legend_above, lines_of, new_figure, paper_style


def effective_dimension(
    curves: Mapping[str, Mapping[float, float]], names: Sequence[str] = ()
) -> Figure:
    """``curves``: method -> {share kept: effective rank}; ``names``: all methods of the paper, in
    order, so that a method looks the same in every figure.
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
        axes.invert_xaxis()  # tighter budgets to the right, as in the paper
        legend_above(figure)
    return figure
