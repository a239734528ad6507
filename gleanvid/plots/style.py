"""One look for every figure: colour-blind-safe colours, transparent ground for light and dark."""

from __future__ import annotations

import plotly.graph_objects as go

BLUE, ORANGE, VERMILLION, GREY = "#0072B2", "#E69F00", "#D55E00", "#808080"
_GRID = "rgba(128,128,128,0.25)"


def styled(figure: go.Figure, x_title: str, y_title: str, height: int = 260) -> go.Figure:
    """The figure with the house's axes, margins and colours."""
    axis = {"gridcolor": _GRID, "zerolinecolor": _GRID, "linecolor": _GRID}
    figure.update_layout(
        height=height,
        margin={"l": 56, "r": 16, "t": 32, "b": 44},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": GREY, "size": 12},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        hovermode="x unified",
        bargap=0.15,
        modebar={"remove": ["select2d", "lasso2d", "autoScale2d"]},
    )
    figure.update_xaxes(title=x_title, **axis)
    figure.update_yaxes(title=y_title, rangemode="tozero", **axis)
    return figure
