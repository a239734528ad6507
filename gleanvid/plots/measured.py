"""Lines over the units from the diagnostics kept with runs (``metrics.with_diagnostics``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from gleanvid.metrics import Diagnostics, diagnostics_of
from gleanvid.plots.style import listed, note
from gleanvid.plots.units import lines_over_units
from gleanvid.run import Run

if TYPE_CHECKING:
    from torch import Tensor

UNMEASURED = "not measured: the features of this clip are no longer at hand"


def measured_over_units(
    runs: Run | Sequence[Run],
    values: Callable[[Diagnostics], Tensor],
    summary: Callable[[Diagnostics], str],
    y_title: str,
    hover: str,
) -> go.Figure:
    """A line a run that holds diagnostics, its summary in the legend; says so where none does."""
    found = [(run, diagnostics) for run in listed(runs) if (diagnostics := diagnostics_of(run))]
    summaries = [summary(diagnostics) for _, diagnostics in found]
    lines = [values(diagnostics) for _, diagnostics in found]
    figure = lines_over_units([run for run, _ in found], summaries, lines, y_title, hover)
    if not found:
        note(figure, UNMEASURED)
    return figure
