"""Growth of the kept evidence: dimension of its span after each unit."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from gleanvid.plots.measured import measured_over_units
from gleanvid.run import Run


def basis_rank_figure(runs: Run | Sequence[Run]) -> go.Figure:
    """Dimension of the span of everything kept so far; needs diagnostics."""
    return measured_over_units(
        runs,
        lambda held: held.basis_rank,
        lambda held: f"{int(held.basis_rank[-1])} in the end",
        "basis rank",
        "%{y} dimensions at %{customdata:.2f} s",
    )
