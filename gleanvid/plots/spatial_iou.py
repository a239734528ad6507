"""IoU of the kept positions of two units against the gap between them."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from gleanvid.metrics import random_iou_curve, spatial_iou_curve
from gleanvid.plots.palette import GREY, looks
from gleanvid.plots.style import labels, listed, styled
from gleanvid.run import Run

_GAPS = 20  # largest gap, as in the paper


def spatial_iou_figure(runs: Run | Sequence[Run]) -> go.Figure:
    """A line a run, and what random positions under the first run's budgets would have."""
    shown, figure = listed(runs), go.Figure()
    methods = [str(run.compressor["name"]) for run in shown]
    for run, name, look in zip(shown, labels(shown), looks(methods), strict=True):
        gaps = range(1, min(_GAPS, run.compression.grid[0] - 1) + 1)
        figure.add_scatter(
            x=list(gaps),
            y=spatial_iou_curve(run.compression, gaps).tolist(),
            mode="lines+markers",
            name=name,
            showlegend=True,
            hovertemplate=f"IoU %{{y:.3f}}<extra>{name}</extra>",
            **look,
        )
    for run in shown[:1]:
        gaps = range(1, min(_GAPS, run.compression.grid[0] - 1) + 1)
        figure.add_scatter(
            x=list(gaps),
            y=random_iou_curve(run.compression, gaps).tolist(),
            mode="lines",
            name="random positions",
            line={"color": GREY, "dash": "dash", "width": 2},
            hovertemplate="IoU %{y:.3f}<extra>random positions</extra>",
        )
    return styled(figure, "gap in temporal units", "spatial IoU")
