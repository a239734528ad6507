"""Figures of runs, one per module. Modules are imported on first use; only some need plotly.

The module NAME draws its plotly figure with ``NAME_figure(runs)``. Figures of diagnostics read the
values that ``metrics.with_diagnostics`` stored with a run. For papers see
:mod:`gleanvid.plots.paper`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

_FIGURES = ("budget", "novelty", "effective_rank", "residual_energy", "effective_dimension")
_HOME = {f"{name}_figure": name for name in _FIGURES}
_HOME |= dict.fromkeys(("contact_sheet", "heat_frame", "overlay_frame", "side_by_side"), "overlay")
__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from gleanvid.plots.budget import budget_figure as budget_figure
    from gleanvid.plots.effective_dimension import (
        effective_dimension_figure as effective_dimension_figure,
    )
    from gleanvid.plots.effective_rank import effective_rank_figure as effective_rank_figure
    from gleanvid.plots.novelty import novelty_figure as novelty_figure
    from gleanvid.plots.overlay import contact_sheet as contact_sheet
    from gleanvid.plots.overlay import heat_frame as heat_frame
    from gleanvid.plots.overlay import overlay_frame as overlay_frame
    from gleanvid.plots.overlay import side_by_side as side_by_side
    from gleanvid.plots.residual_energy import residual_energy_figure as residual_energy_figure
else:

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module 'gleanvid.plots' has no attribute {name!r}")
        return getattr(import_module(f"gleanvid.plots.{_HOME[name]}"), name)
