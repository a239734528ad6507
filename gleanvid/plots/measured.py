"""Lines over the units from the diagnostics kept with runs (``metrics.with_diagnostics``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from gleanvid.metrics import Diagnostics, diagnostics_of
from gleanvid.plots.style import labels, listed, note
from gleanvid.plots.units import lines_over_units
from gleanvid.run import Run

if TYPE_CHECKING:
    from torch import Tensor


def measured_over_units(
    runs: Run | Sequence[Run],
    values: Callable[[Diagnostics], Tensor],
    summary: Callable[[Diagnostics], str],
    y_title: str,
    hover: str,
) -> go.Figure:
    """A line a run that holds diagnostics, its summary in the legend; says so where none does."""
    found = [(run, held) for run in listed(runs) if (held := diagnostics_of(run))]
    shown = [run for run, _ in found]
    told = [
        f"{name} ({summary(held)})" for name, (_, held) in zip(labels(shown), found, strict=True)
    ]
    figure = lines_over_units(shown, told, [values(held) for _, held in found], y_title, hover)
    if not found:
        note(figure, "not measured: the features of this clip are no longer at hand")
    return figure
