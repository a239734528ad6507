"""Pictures of runs, one a file. Loaded on first use: only some of them need plotly.

Where a picture takes runs it takes one or several. Those of diagnostics read what
``metrics.with_diagnostics`` kept with a run. For papers see :mod:`gleanvid.plots.paper`.
"""

from importlib import import_module
from typing import Any

_HOME = {
    "budget_figure": "budget",
    "contact_sheet": "overlay",
    "cost_quality_figure": "cost_quality",
    "effective_dimension_figure": "effective_dimension",
    "effective_rank_figure": "effective_rank",
    "mask_overlap_figure": "mask_overlap",
    "novelty_figure": "novelty",
    "overlay_frame": "overlay",
    "residual_energy_figure": "residual_energy",
    "side_by_side": "overlay",
    "spatial_iou_figure": "spatial_iou",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gleanvid.plots' has no attribute {name!r}")
    return getattr(import_module(f"gleanvid.plots.{_HOME[name]}"), name)
