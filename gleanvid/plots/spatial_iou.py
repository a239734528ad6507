"""IoU of the kept positions of two units against the gap between them."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from gleanvid.metrics import random_iou_curve, spatial_iou_curve
from gleanvid.plots.labels import labels
from gleanvid.plots.palette import GREY, styles
from gleanvid.plots.style import add_line, compressed, listed, styled
from gleanvid.run import Run

_GAPS = 20  # largest gap between two units that is drawn, as in the paper
_HOVER = "<b>%{meta}</b><br>units %{x} apart<br>IoU %{y:.3f}<extra></extra>"


def spatial_iou_figure(runs: Run | Sequence[Run]) -> go.Figure:
    """Draw how much the kept positions of two units overlap against the gap between them.

    There is one line per run, and one for random positions: in each unit as many as the first run
    keeps. Runs that keep all tokens (IoU 1 at every gap) are left out if other runs drop some.
    """
    drawn, figure = compressed(listed(runs)), go.Figure()
    methods = [str(run.compressor["name"]) for run in drawn]
    for run, name, style in zip(drawn, labels(drawn), styles(methods), strict=True):
        curve = spatial_iou_curve(run.compression, _gaps(run)).tolist()
        add_line(figure, name, dict(enumerate(curve, 1)), _HOVER, **style)
    for run in drawn[:1]:
        curve = random_iou_curve(run.compression, _gaps(run)).tolist()
        style = {"color": GREY, "dash": "dash", "width": 1}
        add_line(figure, "random positions", dict(enumerate(curve, 1)), _HOVER, line=style)
    return styled(figure, "gap in temporal units", "spatial IoU")


def _gaps(run: Run) -> range:
    return range(1, min(_GAPS, run.compression.grid[0] - 1) + 1)
