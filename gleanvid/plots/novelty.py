"""Temporal novelty R_t of each unit, for methods that measure it."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from gleanvid.plots.labels import labels, title_of
from gleanvid.plots.palette import styles
from gleanvid.plots.style import listed, log_axis, note, styled
from gleanvid.plots.units import HOVER
from gleanvid.run import Run

_ROUNDING = 1e-5  # values below this fraction of the highest one are not drawn: rounding errors


def novelty_figure(runs: Run | Sequence[Run]) -> go.Figure:
    """Draw novelty per unit, on a logarithmic axis.

    Hovering shows which fraction of the clip's novelty a unit has. The legend has the Gini
    coefficient of the novelty, and alpha, the fraction of the budget that is spread evenly. If no
    run measured novelty, the figure says so.
    """
    drawn = [run for run in listed(runs) if "novelty" in run.compression.trace]
    figure = go.Figure()
    if not drawn:
        names = ", ".join(dict.fromkeys(title_of(run) for run in listed(runs)))
        note(figure, f"{names} does not measure novelty")
    methods = [str(run.compressor["name"]) for run in drawn]
    for run, name, style in zip(drawn, labels(drawn), styles(methods), strict=True):
        trace = run.compression.trace
        novelty, share = trace["novelty"].tolist(), trace["share"].tolist()
        spread = f"novelty Gini {float(trace['gini']):.2f}, alpha {float(trace['alpha']):.2f}"
        figure.add_scatter(
            x=list(range(1, len(novelty) + 1)),
            y=novelty,
            customdata=list(zip(run.seconds[:, 0].tolist(), share, strict=True)),
            mode="lines+markers",
            name=f"{'novelty' if len(drawn) == 1 else name} ({spread})",
            meta=name,
            showlegend=True,
            hovertemplate=f"{HOVER.replace('customdata', 'customdata[0]')}"
            "R = %{y:.4g}, %{customdata[1]:.1%} of all<extra></extra>",
            **style,
        )
    styled(figure, "temporal unit", "novelty R")
    # Everything in the first unit is new: on a linear axis the others would lie near zero.
    return log_axis(figure, _ROUNDING * max((max(line.y) for line in figure.data), default=0.0))
