"""Figures for papers with matplotlib: each function returns a ``Figure``.

``save_figure(figure, "name.pdf")`` writes it; the endings .pdf, .png and .svg are known.
"""

from gleanvid.plots.paper.complementarity import complementarity
from gleanvid.plots.paper.layout import save_figure
from gleanvid.plots.paper.lines import budgets, effective_dimension, spatial_iou
from gleanvid.plots.paper.overlays import overlays

__all__ = [
    "budgets",
    "complementarity",
    "effective_dimension",
    "overlays",
    "save_figure",
    "spatial_iou",
]
