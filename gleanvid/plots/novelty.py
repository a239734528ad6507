"""Temporal novelty R_t of each unit and its share, for methods that measure it."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from gleanvid.plots.palette import looks
from gleanvid.plots.style import labels, listed, note, styled, title_of
from gleanvid.run import Run


def novelty_figure(runs: Run | Sequence[Run]) -> go.Figure:
    """Novelty per unit, on a logarithmic axis; its share on hover, the Gini coefficient and alpha
    in the legend. Says so where no run measured novelty.
    """
    shown = [run for run in listed(runs) if "novelty" in run.compression.trace]
    figure = go.Figure()
    if not shown:
        names = ", ".join(dict.fromkeys(title_of(run) for run in listed(runs)))
        note(figure, f"{names} does not measure novelty")
    methods = [str(run.compressor["name"]) for run in shown]
    for run, name, look in zip(shown, labels(shown), looks(methods), strict=True):
        trace = run.compression.trace
        novelty, share = trace["novelty"].tolist(), trace["share"].tolist()
        spread = f"Gini {float(trace['gini']):.2f}, alpha {float(trace['alpha']):.2f}"
        figure.add_scatter(
            x=list(range(1, len(novelty) + 1)),
            y=novelty,
            customdata=list(zip(share, run.seconds[:, 0].tolist(), strict=True)),
            mode="lines+markers",
            name=f"{'novelty' if len(shown) == 1 else name} ({spread})",
            showlegend=True,
            hovertemplate="R = %{y:.4g}, %{customdata[0]:.1%} of all, at %{customdata[1]:.2f} s"
            f"<extra>{name}</extra>",
            **look,
        )
    styled(figure, "temporal unit", "novelty R")
    # The first unit is all new: beside it the others would lie on the axis.
    return figure.update_yaxes(type="log", rangemode="normal")
