"""One style for every figure: colour-blind-safe colours, transparent ground for light and dark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from gleanvid.plots.palette import GREY
from gleanvid.run import Run

_GRID = "rgba(128,128,128,0.25)"


def styled(figure: go.Figure, x_title: str, y_title: str, height: int = 260) -> go.Figure:
    """Set the axes, margins and colours that all figures share, and return the figure."""
    axis = {"gridcolor": _GRID, "zerolinecolor": _GRID, "linecolor": _GRID}
    figure.update_layout(
        height=height,
        margin={"l": 56, "r": 16, "t": 32, "b": 44},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": GREY, "size": 12},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        hovermode="closest",
        hoverdistance=-1,  # hovering shows the nearest point, at any distance
        bargap=0.15,
        modebar={"remove": ["select2d", "lasso2d", "autoScale2d"]},
    )
    figure.update_xaxes(title=x_title, **axis)
    figure.update_yaxes(title=y_title, rangemode="tozero", **axis)
    return figure


def add_line(
    figure: go.Figure, name: str, points: Mapping[Any, float], hover: str, **style: object
) -> None:
    """Add a line through ``points`` (x -> y), with markers if ``style`` has a marker."""
    figure.add_scatter(
        x=list(points),
        y=list(points.values()),
        mode="lines+markers" if "marker" in style else "lines",
        name=name,
        meta=name,
        showlegend=True,
        hovertemplate=hover,
        **style,
    )


def log_axis(figure: go.Figure, floor: float) -> go.Figure:
    """Make the y axis logarithmic, and leave out values below ``floor``, as rounding errors."""
    drawn = []
    for line in figure.data:
        line.y = [None if value is None or value < floor else value for value in line.y]
        drawn += [value for value in line.y if value is not None]
    ends = [math.log10(min(drawn)) - 0.1, math.log10(max(drawn)) + 0.1] if drawn else [0, 1]
    # ticks at powers of ten only, if there are at least two
    step = 1 if ends[1] - ends[0] > 2 else None
    return figure.update_yaxes(type="log", rangemode="normal", range=ends, dtick=step)


def listed(runs: Run | Sequence[Run]) -> list[Run]:
    """Return one run or several as a list."""
    return [runs] if isinstance(runs, Run) else list(runs)


def compressed(runs: Sequence[Run]) -> list[Run]:
    """Return the runs that drop tokens, or all runs if none does."""
    return [run for run in runs if run.compression.num_kept < run.compression.num_tokens] or [*runs]


def note(figure: go.Figure, text: str) -> None:
    """Write a sentence in the middle of a figure that has nothing to draw."""
    figure.add_annotation(text=text, showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper")
