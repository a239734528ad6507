"""Effective dimension of the kept tokens against retention (Fig. 1(c))."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from gleanvid.plots.against_retention import Curves, against_retention, curves_of
from gleanvid.run import Run


def effective_dimension_figure(runs: Run | Sequence[Run] | Curves) -> go.Figure:
    """From runs with diagnostics, or plain numbers: method -> {share kept: effective rank}."""
    curves = curves_of(runs, lambda held: held.effective_rank)
    return against_retention(curves, "effective rank", "%{y:.1f} dimensions")
