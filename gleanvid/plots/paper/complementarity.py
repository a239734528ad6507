"""Three bar charts side by side: effective rank, residual energy and coverage error."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from gleanvid.plots.palette import BLUE, SKY
from gleanvid.plots.paper.style import PAGE, new_figure, paper_style

_PANELS = {
    "effective_rank": ("effective rank (more is richer)", "{:.3g}"),
    "residual_energy": ("residual energy (more is newer)", "{:.3g}"),
    "coverage_error": ("coverage error (less is better)", "{:.2g}"),
}


def complementarity(values: Mapping[str, Mapping[str, float]]) -> Figure:
    """``values``: variant -> the three metrics by name. The last variant is set off in colour."""
    names = list(values)
    with paper_style():
        figure = new_figure(PAGE, 2.0)
        for axes, (metric, (title, form)) in zip(
            figure.subplots(1, len(_PANELS)), _PANELS.items(), strict=True
        ):
            colours = [SKY] * (len(names) - 1) + [BLUE]
            bars = axes.bar(names, [values[name][metric] for name in names], color=colours)
            axes.bar_label(bars, fmt=form.format, fontsize=6, padding=1)
            axes.set_title(title)
            axes.tick_params(axis="x", labelrotation=30)
            axes.grid(visible=False, axis="x")
            axes.margins(y=0.15)
    return figure
