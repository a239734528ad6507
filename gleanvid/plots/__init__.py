"""Figures of runs, one per module. Modules are imported on first use; only some need plotly.

``FIGURES`` lists the figures that the app draws. The module NAME draws its figure with
``NAME_figure(runs)``. Figures of diagnostics read the values that ``metrics.with_diagnostics``
stored with a run. For papers see :mod:`gleanvid.plots.paper`.
"""

from importlib import import_module
from typing import Any

from gleanvid.plots.registry import FIGURES as FIGURES

_HOME = {f"{name}_figure": name for name in FIGURES}
_HOME |= dict.fromkeys(("contact_sheet", "heat_frame", "overlay_frame", "side_by_side"), "overlay")
__all__ = sorted(["FIGURES", *_HOME])


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gleanvid.plots' has no attribute {name!r}")
    return getattr(import_module(f"gleanvid.plots.{_HOME[name]}"), name)
