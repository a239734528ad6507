"""Pictures of a run, one a file. Loaded on first use: only some of them need plotly."""

from importlib import import_module
from typing import Any

_HOME = {
    "budget_figure": "budget",
    "contact_sheet": "overlay",
    "novelty_figure": "novelty",
    "overlay_frame": "overlay",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gleanvid.plots' has no attribute {name!r}")
    return getattr(import_module(f"gleanvid.plots.{_HOME[name]}"), name)
