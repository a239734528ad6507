"""Quality against the cost of prefill: one point per run."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from gleanvid.compressors import title_of
from gleanvid.plots.labels import labels
from gleanvid.plots.palette import styles
from gleanvid.plots.style import styled
from gleanvid.run import Run


def cost_quality_figure(runs: Sequence[Run], qualities: Sequence[float], y_title: str) -> go.Figure:
    """Draw quality (one number per run, higher is better) against the cost of prefill.

    The cost is in FLOPs, as a fraction of those of the uncompressed prompt. Runs of one method at
    several ratios are joined by a line.
    """
    figure, names = go.Figure(), list(dict.fromkeys(str(r.compressor["name"]) for r in runs))
    rows = list(zip(runs, qualities, labels(runs), strict=True))
    for name, style in zip(names, styles(names), strict=True):
        own = sorted(
            (run.cost.prefill_flops / run.cost.prefill_flops_full, quality, label)
            for run, quality, label in rows
            if run.compressor["name"] == name
        )
        figure.add_scatter(
            x=[share for share, _, _ in own],
            y=[None if quality != quality else quality for _, quality, _ in own],
            text=[label for _, _, label in own],
            mode="lines+markers" if len(own) > 1 else "markers",
            name=title_of(name),
            showlegend=True,
            hovertemplate="%{text}: %{x:.1%} of the FLOPs, %{y:.3f}<extra></extra>",
            **style,
        )
    styled(figure, "prefill FLOPs, relative to all tokens", y_title)
    figure.update_yaxes(rangemode="normal")
    return figure.update_xaxes(tickformat=".0%", rangemode="tozero")
