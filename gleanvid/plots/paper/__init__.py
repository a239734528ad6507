"""Figures for papers with matplotlib: each function returns a ``Figure``.

``save_figure(figure, "name.pdf")`` writes it; the endings .pdf, .png and .svg are known.
"""

from gleanvid.plots.paper.layout import save_figure as save_figure
from gleanvid.plots.paper.lines import CURVES as CURVES
from gleanvid.plots.paper.lines import budgets as budgets
from gleanvid.plots.paper.lines import curves as curves
from gleanvid.plots.paper.overlays import composed as composed
from gleanvid.plots.paper.overlays import overlays as overlays
