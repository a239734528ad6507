"""Spatial diversity: effective rank of each unit's kept tokens."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from gleanvid.plots.units import measured_over_units
from gleanvid.run import Run


def effective_rank_figure(runs: Run | Sequence[Run]) -> go.Figure:
    """Draw the effective rank of the kept tokens of every unit, one line per run.

    The legend has the effective rank of all kept tokens of a run. Runs without diagnostics are left
    out.
    """
    return measured_over_units(
        runs,
        lambda diagnostics: diagnostics.effective_rank_by_unit,
        lambda diagnostics: f"{diagnostics.effective_rank:.1f} over all units",
        "effective rank (directions)",
        "%{y:.1f} directions",
    )
