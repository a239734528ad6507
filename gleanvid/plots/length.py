"""Time and memory of compressors against the length of the clip, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# number of temporal units of a clip; time and memory, as the titles of the y axes define them
Point = tuple[int, float, float]


def length_figure(
    series: Mapping[str, Sequence[Point]],
    clock: str = "seconds",
    memory: str = "extra memory / memory of the features",
) -> Any:
    """Draw time and memory against the length of the clip, with matplotlib.

    ``series``: points of each line, by its title. ``clock`` and ``memory``: titles of the y axes.
    """
    from matplotlib.figure import Figure

    from gleanvid.plots.paper.layout import lines_of

    figure = Figure(figsize=(10.5, 4.6), layout="constrained")
    panels = figure.subplots(1, 2)
    for title, style in zip(series, lines_of([*series]), strict=True):
        units, *columns = zip(*series[title], strict=True)
        for axes, values in zip(panels, columns, strict=True):
            axes.plot(units, values, markersize=5, label=title, **style)
    ticks = sorted({point[0] for points in series.values() for point in points})
    for axes, name in zip(panels, (clock, memory), strict=True):
        axes.set(xlabel="temporal units", ylabel=name, xscale="log", yscale="log")
        axes.set_xticks(ticks, [str(tick) for tick in ticks], minor=False)
        axes.set_xticks([], minor=True)
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    handles, titles = panels[0].get_legend_handles_labels()
    figure.legend(handles, titles, loc="outside right upper", fontsize=8, frameon=False)
    return figure
