"""Lines over the temporal units of a clip, one a run: the frame of four of the pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from gleanvid.plots.palette import looks
from gleanvid.plots.style import styled
from gleanvid.run import Run

if TYPE_CHECKING:
    from torch import Tensor


def lines_over_units(
    runs: Sequence[Run],
    names: Sequence[str],
    values: Sequence[Tensor],
    y_title: str,
    hover: str,
    shape: str = "linear",
) -> go.Figure:
    """x: temporal unit from 1; ``values`` [T] a run; ``hover``: the text after the name, with
    ``%{y}`` and, as ``%{customdata}``, the second at which the unit starts.
    """
    figure = go.Figure()
    methods = [str(run.compressor["name"]) for run in runs]
    for run, name, row, look in zip(runs, names, values, looks(methods), strict=True):
        figure.add_scatter(
            x=list(range(1, len(row) + 1)),
            y=[None if value != value else value for value in row.tolist()],
            customdata=run.seconds[:, 0].tolist(),
            mode="lines+markers",
            name=name,
            showlegend=True,
            line=look["line"] | {"shape": shape},
            marker=look["marker"],
            hovertemplate=f"{hover}<extra>{name}</extra>",
        )
    return styled(figure, "temporal unit", y_title)
