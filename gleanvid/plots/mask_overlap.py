"""Overlap of the kept tokens: IoU of every pair of masks."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from gleanvid.metrics import mask_overlaps
from gleanvid.plots.labels import labels
from gleanvid.plots.style import compressed, styled
from gleanvid.run import Run

_SCALE = [[0.0, "#F7FBFF"], [0.5, "#6BAED6"], [1.0, "#08306B"]]  # one hue, by lightness
_LABELLED = 8  # most runs for which every cell shows its number


def mask_overlap_figure(runs: Sequence[Run]) -> go.Figure:
    """Draw how many tokens each two runs of one clip share: intersection over union, 0 to 1.

    Runs that keep everything are left out if others drop tokens: their overlap is only the other
    run's retention ratio.
    """
    drawn = compressed(runs)
    names = labels(drawn)
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
    figure.update_yaxes(autorange="reversed", rangemode="normal")
    return figure
