"""One number a run against the share of tokens kept: a line a method, a point a ratio."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import plotly.graph_objects as go

from gleanvid.metrics import Diagnostics, diagnostics_of
from gleanvid.plots.palette import looks
from gleanvid.plots.style import listed, note, styled, title_of
from gleanvid.run import Run

Curves = Mapping[str, Mapping[float, float]]  # method -> {share kept: value}


def curves_of(runs: Run | Sequence[Run] | Curves, value: Callable[[Diagnostics], float]) -> Curves:
    """Curves as they are, or those of runs that hold diagnostics, at the share really kept."""
    if isinstance(runs, Mapping):
        return runs
    curves: dict[str, dict[float, float]] = {}
    for run in listed(runs):
        if held := diagnostics_of(run):
            share = run.compression.num_kept / run.compression.num_tokens
            curves.setdefault(title_of(run), {})[share] = value(held)
    return curves


def against_retention(curves: Curves, y_title: str, hover: str) -> go.Figure:
    """Lines with markers, or single markers where a method has one ratio."""
    figure = go.Figure()
    for (name, points), look in zip(curves.items(), looks(list(curves)), strict=True):
        shares = sorted(points)
        figure.add_scatter(
            x=shares,
            y=[points[share] for share in shares],
            mode="lines+markers" if len(shares) > 1 else "markers",
            name=name,
            showlegend=True,
            hovertemplate=f"{hover}<extra>{name}</extra>",
            **look,
        )
    if not curves:
        note(figure, "not measured: the features of this clip are no longer at hand")
    styled(figure, "visual tokens kept", y_title)
    return figure.update_xaxes(tickformat=".0%", hoverformat=".1%", rangemode="tozero")
