"""Tokens kept in each temporal unit, compared with the even budget B/T."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from gleanvid.metrics import budget_gini
from gleanvid.plots.labels import labels
from gleanvid.plots.palette import BLUE, GREY
from gleanvid.plots.style import compressed, listed, styled
from gleanvid.plots.units import HOVER, lines_over_units
from gleanvid.run import Run

_TOKENS = "%{y} tokens"


def budget_figure(runs: Run | Sequence[Run]) -> go.Figure:
    """Draw the budgets of the units: bars for one run, a stepped line for each of several.

    The mean B/T of each run (B tokens kept in T units) is drawn, too. The legend has the Gini
    coefficient of the budgets. Runs that keep all tokens would flatten the other curves, so they
    are left out if other runs drop some.
    """
    drawn = compressed(listed(runs))
    if len(drawn) == 1:
        figure = _bars(drawn[0])
    else:
        budgets = [run.compression.budgets for run in drawn]
        spreads = [_spread(run) for run in drawn]
        figure = lines_over_units(drawn, spreads, budgets, "tokens kept", _TOKENS, "hvh")
    shares = {run.compression.num_kept / run.compression.grid[0] for run in drawn}
    longest = max((run.compression.grid[0] for run in drawn), default=1)
    for even in sorted(shares):
        figure.add_scatter(
            x=[0.5, longest + 0.5],
            y=[even, even],
            mode="lines",
            name=f"even share {even:.1f}",
            line={"color": GREY, "dash": "dash", "width": 1},
            hoverinfo="skip",
        )
    return styled(figure, "temporal unit", "tokens kept")


def _spread(run: Run) -> str:
    return f"budget Gini {budget_gini(run.compression):.2f}"


def _bars(run: Run) -> go.Figure:
    budgets = run.compression.budgets.tolist()
    figure = go.Figure()
    figure.add_bar(
        x=list(range(1, len(budgets) + 1)),
        y=budgets,
        customdata=run.seconds[:, 0].tolist(),
        name=f"tokens kept ({_spread(run)})",
        meta=labels([run])[0],
        marker={"color": BLUE},
        hovertemplate=f"{HOVER}{_TOKENS}<extra></extra>",
    )
    return figure
