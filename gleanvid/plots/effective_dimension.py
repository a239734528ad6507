"""Effective dimension of kept and of random tokens against the retention ratio (Fig. 1(c))."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from gleanvid.metrics import diagnostics_of
from gleanvid.plots.labels import title_of
from gleanvid.plots.palette import GREY, styles
from gleanvid.plots.style import add_line, compressed, listed, note, styled
from gleanvid.plots.units import UNMEASURED
from gleanvid.run import Run

_HOVER = "<b>%{meta}</b><br>%{x:.1%} kept<br>%{y:.1f} directions<extra></extra>"


def effective_dimension_figure(runs: Run | Sequence[Run]) -> go.Figure:
    """Draw effective rank against the retention ratio: one line per method, and random selection.

    Runs without diagnostics are left out. So are runs that keep all tokens if other runs drop some,
    because their ratio is far from those of the others.
    """
    curves: dict[str, dict[float, float]] = {}
    random: dict[float, float] = {}
    for run in compressed(listed(runs)):
        if diagnostics := diagnostics_of(run):
            share = run.compression.num_kept / run.compression.num_tokens
            curves.setdefault(title_of(run), {})[share] = diagnostics.effective_rank
            random[share] = diagnostics.random_effective_rank
    figure = go.Figure()
    for (name, points), style in zip(curves.items(), styles(list(curves)), strict=True):
        add_line(figure, name, dict(sorted(points.items())), _HOVER, **style)
    if curves:
        look = {"color": GREY, "dash": "dash", "width": 1}
        add_line(figure, "random keeping", dict(sorted(random.items())), _HOVER, line=look)
    else:
        note(figure, UNMEASURED)
    styled(figure, "visual tokens kept", "effective rank (directions)")
    return figure.update_xaxes(tickformat=".0%")
