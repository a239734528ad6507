"""Temporal novelty R_t of each unit, for methods that measure it."""

from __future__ import annotations

import plotly.graph_objects as go

from gleanvid.plots.style import ORANGE, styled
from gleanvid.run import Run


def novelty_figure(run: Run) -> go.Figure:
    """Novelty per unit with the Gini coefficient and alpha; says so where the method has none."""
    trace, figure = run.compression.trace, go.Figure()
    if "novelty" not in trace:
        name = run.compressor["name"]
        figure.add_annotation(text=f"{name} does not measure novelty", showarrow=False)
        return styled(figure, "temporal unit", "novelty")
    novelty = trace["novelty"].tolist()
    figure.add_scatter(
        x=list(range(1, len(novelty) + 1)),
        y=novelty,
        mode="lines+markers",
        name=f"novelty (Gini {float(trace['gini']):.2f}, alpha {float(trace['alpha']):.2f})",
        line={"color": ORANGE, "width": 2},
        showlegend=True,
        hovertemplate="novelty %{y:.4g}<extra></extra>",
    )
    return styled(figure, "temporal unit", "novelty")
