"""Figures for papers with matplotlib, one a file: each function returns a ``Figure``.

``save_figure(figure, "name.pdf")`` writes it; the endings .pdf, .png and .svg are known.
"""

from gleanvid.plots.paper.budgets import budgets
from gleanvid.plots.paper.complementarity import complementarity
from gleanvid.plots.paper.effective_dimension import effective_dimension
from gleanvid.plots.paper.layout import save_figure
from gleanvid.plots.paper.overlays import overlays
from gleanvid.plots.paper.spatial_iou import spatial_iou

__all__ = [
    "budgets",
    "complementarity",
    "effective_dimension",
    "overlays",
    "save_figure",
    "spatial_iou",
]
