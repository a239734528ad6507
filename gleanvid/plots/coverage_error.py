"""Coverage error: the share of the dropped tokens' energy that the kept ones do not explain."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from gleanvid.plots.against_retention import Curves, against_retention, curves_of
from gleanvid.run import Run


def coverage_error_figure(runs: Run | Sequence[Run] | Curves) -> go.Figure:
    """From runs with diagnostics, or plain numbers: method -> {share kept: coverage error}."""
    curves = curves_of(runs, lambda held: held.coverage_error)
    figure = against_retention(curves, "coverage error", "%{y:.2%} of the energy lost")
    return figure.update_yaxes(tickformat=".1%")
