"""Cross-frame residual energy: what each unit's kept tokens add to all units before it."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from gleanvid.plots.measured import measured_over_units
from gleanvid.run import Run


def residual_energy_figure(runs: Run | Sequence[Run]) -> go.Figure:
    """Share of energy outside the span of earlier units, the mean in the legend; needs
    diagnostics.
    """
    figure = measured_over_units(
        runs,
        lambda held: held.residual_energy_by_unit,
        lambda held: f"mean {held.residual_energy:.1%}",
        "new energy",
        "%{y:.1%} new at %{customdata:.2f} s",
    )
    return figure.update_yaxes(type="log", tickformat=".2~%", rangemode="normal")
