"""Tokens kept in each temporal unit, against the uniform budget B/T."""

from __future__ import annotations

import plotly.graph_objects as go

from gleanvid.plots.style import BLUE, GREY, styled
from gleanvid.run import Run


def budget_figure(run: Run) -> go.Figure:
    """Bars of the per-unit budgets with the uniform line; x in seconds of the unit's start."""
    budgets = run.compression.budgets.tolist()
    seconds = [float(start) for start in run.seconds[:, 0]]
    even = sum(budgets) / len(budgets)
    figure = go.Figure()
    figure.add_bar(
        x=list(range(1, len(budgets) + 1)),
        y=budgets,
        customdata=seconds,
        name="tokens kept",
        marker={"color": BLUE},
        hovertemplate="%{y} tokens at %{customdata:.2f} s<extra></extra>",
    )
    figure.add_scatter(
        x=[0.5, len(budgets) + 0.5],
        y=[even, even],
        mode="lines",
        name=f"uniform B/T = {even:.1f}",
        line={"color": GREY, "dash": "dash", "width": 2},
        hoverinfo="skip",
    )
    return styled(figure, "temporal unit", "tokens")
