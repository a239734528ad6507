"""Effective rank of the tokens kept in each unit."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from gleanvid.plots.measured import measured_over_units
from gleanvid.run import Run


def effective_rank_figure(runs: Run | Sequence[Run]) -> go.Figure:
    """Effective rank per unit, that of all kept tokens in the legend; needs diagnostics."""
    return measured_over_units(
        runs,
        lambda held: held.effective_rank_by_unit,
        lambda held: f"{held.effective_rank:.1f} over all units",
        "effective rank",
        "%{y:.1f} dimensions at %{customdata:.2f} s",
    )
