"""Lines over the temporal units of a clip, one a run; four of the pictures are drawn by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from gleanvid.plots.labels import labels
from gleanvid.plots.palette import styles
from gleanvid.plots.style import styled
from gleanvid.run import Run

if TYPE_CHECKING:
    from torch import Tensor

HOVER = "<b>%{meta}</b><br>unit %{x} (%{customdata:.2f} s)<br>"  # a run, and where in the clip


def lines_over_units(
    runs: Sequence[Run],
    summaries: Sequence[str],
    values: Sequence[Tensor],
    y_title: str,
    hover: str,
    shape: str = "linear",
) -> go.Figure:
    """x: temporal unit from 1; ``values`` [T] a run, NaN where it has none.

    ``summaries`` stand in the legend behind the names; ``hover`` is the text of a point after its
    run and unit, with ``%{y}``.
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
