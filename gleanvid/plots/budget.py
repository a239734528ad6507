"""Tokens kept in each temporal unit, against the uniform budget B/T."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from gleanvid.metrics import budget_gini
from gleanvid.plots.palette import BLUE, GREY
from gleanvid.plots.style import labels, listed, styled
from gleanvid.plots.units import lines_over_units
from gleanvid.run import Run

_HOVER = "%{y} tokens at %{customdata:.2f} s"


def budget_figure(runs: Run | Sequence[Run]) -> go.Figure:
    """Bars of one run's budgets, or a stepped line a run; the uniform line of each budget.

    The Gini coefficient of the budgets stands in the legend.
    """
    shown = listed(runs)
    if len(shown) == 1:
        figure = _bars(shown[0])
    else:
        budgets = [run.compression.budgets for run in shown]
        names = [f"{name} ({_spread(run)})" for name, run in zip(labels(shown), shown, strict=True)]
        figure = lines_over_units(shown, names, budgets, "tokens kept", _HOVER, "hvh")
    shares = {run.compression.num_kept / run.compression.grid[0] for run in shown}
    longest = max((run.compression.grid[0] for run in shown), default=1)
    for even in sorted(shares):
        figure.add_scatter(
            x=[0.5, longest + 0.5],
            y=[even, even],
            mode="lines",
            name=f"B/T = {even:.1f}",
            line={"color": GREY, "dash": "dash", "width": 2},
            hoverinfo="skip",
        )
    return styled(figure, "temporal unit", "tokens kept")


def _spread(run: Run) -> str:
    return f"Gini {budget_gini(run.compression):.2f}"


def _bars(run: Run) -> go.Figure:
    budgets = run.compression.budgets.tolist()
    figure = go.Figure()
    figure.add_bar(
        x=list(range(1, len(budgets) + 1)),
        y=budgets,
        customdata=run.seconds[:, 0].tolist(),
        name=f"tokens kept ({_spread(run)})",
        marker={"color": BLUE},
        hovertemplate=f"{_HOVER}<extra></extra>",
    )
    return figure
