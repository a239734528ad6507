"""Line charts over the temporal units of a clip, one line per run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from gleanvid.metrics import Diagnostics, diagnostics_of
from gleanvid.plots.labels import labels
from gleanvid.plots.palette import styles
from gleanvid.plots.style import listed, note, styled
from gleanvid.run import Run

if TYPE_CHECKING:
    from torch import Tensor

UNMEASURED = "not measured: the features of this clip are no longer at hand"
# Hover text: the run, and the position in the clip.
HOVER = "<b>%{meta}</b><br>unit %{x} (%{customdata:.2f} s)<br>"


def lines_over_units(
    runs: Sequence[Run],
    summaries: Sequence[str],
    values: Sequence[Tensor],
    y_title: str,
    hover: str,
    shape: str = "linear",
) -> go.Figure:
    """Draw one line per run over the temporal units, which count from 1.

    ``values``: [T] for each run, NaN for a unit without a value. ``summaries``: text after each
    run's label in the legend. ``hover``: end of the text shown on hover, after run and unit; the
    value is ``%{y}`` in it. ``shape``: plotly's line shape.
    """
    figure = go.Figure()
    methods = [str(run.compressor["name"]) for run in runs]
    rows = zip(runs, labels(runs), summaries, values, styles(methods), strict=True)
    for run, label, summary, row, style in rows:
        figure.add_scatter(
            x=list(range(1, len(row) + 1)),
            y=[None if value != value else value for value in row.tolist()],
            customdata=run.seconds[:, 0].tolist(),
            mode="lines+markers",
            name=f"{label} ({summary})" if summary else label,
            meta=label,
            showlegend=True,
            line=style["line"] | {"shape": shape},
            marker=style["marker"],
            hovertemplate=f"{HOVER}{hover}<extra></extra>",
        )
    return styled(figure, "temporal unit", y_title)


def measured_over_units(
    runs: Run | Sequence[Run],
    values: Callable[[Diagnostics], Tensor],
    summary: Callable[[Diagnostics], str],
    y_title: str,
    hover: str,
) -> go.Figure:
    """Draw one line over the temporal units for each run that has diagnostics.

    ``values`` and ``summary`` compute the line and the text in the legend from the diagnostics. If
    no run has diagnostics, the figure says so.
    """
    found = [(run, diagnostics) for run in listed(runs) if (diagnostics := diagnostics_of(run))]
    summaries = [summary(diagnostics) for _, diagnostics in found]
    lines = [values(diagnostics) for _, diagnostics in found]
    figure = lines_over_units([run for run, _ in found], summaries, lines, y_title, hover)
    if not found:
        note(figure, UNMEASURED)
    return figure
