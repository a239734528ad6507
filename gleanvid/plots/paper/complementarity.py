"""Bar charts of ways to select tokens: effective rank, residual energy and coverage error."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from gleanvid.plots.palette import BLUE, SKY
from gleanvid.plots.paper.layout import PAGE, new_figure, paper_style

_PANELS = {  # metric -> title of its panel, factor by which values are multiplied
    "effective_rank": ("effective rank", 1),
    "residual_energy": ("residual energy (%)", 100),
    "later_residual_energy": ("after the first unit (%)", 100),
    "coverage_error": ("coverage error (%)", 100),
}


def _short(value: float) -> str:
    """Format with 3 significant digits (2 below 1), so that neighbouring labels do not touch."""
    return f"{value:.3g}" if value >= 1 else f"{value:.2g}"


def complementarity(values: Mapping[str, Mapping[str, float]]) -> Figure:
    """Draw metrics of several ways to select tokens as bars, one panel per metric.

    ``values``: for each way, its metrics by name. The last way has another colour. A metric that
    not all ways have is left out. Higher is better, except for the coverage error. Residual energy
    includes the first unit, where everything is new; "later_residual_energy" excludes it.
    """
    names = list(values)
    panels = [metric for metric in _PANELS if all(metric in row for row in values.values())]
    with paper_style():
        figure = new_figure(PAGE, 2.0)
        for axes, metric in zip(figure.subplots(1, len(panels)), panels, strict=True):
            title, factor = _PANELS[metric]
            heights = [factor * values[name][metric] for name in names]
            bars = axes.bar(names, heights, color=[SKY] * (len(names) - 1) + [BLUE])
            axes.bar_label(bars, fmt=_short, fontsize=6, padding=1)
            axes.set_title(title)
            axes.tick_params(axis="x", labelrotation=45)
            axes.grid(visible=False, axis="x")
            axes.margins(y=0.15)
    return figure
