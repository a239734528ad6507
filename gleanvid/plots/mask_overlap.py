"""Overlap of the kept tokens: IoU of every pair of masks."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from gleanvid.metrics import mask_overlaps
from gleanvid.plots.labels import labels
from gleanvid.plots.style import compressed, styled
from gleanvid.run import Run

_SCALE = [[0.0, "#F7FBFF"], [0.5, "#6BAED6"], [1.0, "#08306B"]]  # one hue, from light to dark
_LABELLED = 8  # with at most this many runs, every cell of the matrix shows its IoU
_LONGEST = 24  # longest label of a run at the axes, in characters; hovering shows all of it


def mask_overlap_figure(runs: Sequence[Run]) -> go.Figure:
    """Draw the overlap of the tokens kept by each two runs of one clip: IoU in [0, 1].

    Runs that keep all tokens are left out if other runs drop some: their overlap with another run
    is only that run's retention ratio.
    """
    drawn = compressed(runs)
    names = labels(drawn)
    short = [one if len(one) <= _LONGEST else f"{one[: _LONGEST - 1]}…" for one in names]
    values = mask_overlaps([run.compression for run in drawn]).tolist()
    figure = go.Figure(
        go.Heatmap(
            x=names,
            y=names,
            z=values,
            zmin=0,
            zmax=1,
            colorscale=_SCALE,
            colorbar={"title": {"text": "IoU", "side": "right"}, "thickness": 12},
            texttemplate="%{z:.2f}" if len(names) <= _LABELLED else None,
            hovertemplate="<b>%{y}</b><br>and %{x}<br>IoU %{z:.3f}<extra></extra>",
        )
    )
    styled(figure, "", "", height=max(260, 90 + 26 * len(names)))
    figure.update_layout(margin={"l": 90})
    figure.update_xaxes(tickvals=names, ticktext=short)
    figure.update_yaxes(
        tickvals=names, ticktext=short, automargin=True, autorange="reversed", rangemode="normal"
    )
    return figure
