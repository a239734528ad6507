"""Cross-frame residual energy: the part of each unit's kept tokens that earlier units lack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import plotly.graph_objects as go
import torch

from gleanvid.metrics import ROUNDING, Diagnostics
from gleanvid.plots.style import log_axis
from gleanvid.plots.units import measured_over_units
from gleanvid.run import Run

if TYPE_CHECKING:
    from torch import Tensor


def residual_energy_figure(runs: Run | Sequence[Run]) -> go.Figure:
    """Draw how much of each unit's kept tokens lies outside the span of earlier kept tokens.

    Values are in percent and start with the second unit that keeps tokens: in the first one,
    everything is new. A line ends where the kept tokens span every direction, because later values
    are rounding errors. The legend has the mean. Runs without diagnostics are left out.
    """
    figure = measured_over_units(
        runs,
        _later,
        lambda diagnostics: f"mean {diagnostics.later_residual_energy:.2%}",
        "new energy",
        "%{y:.3~p} of its energy is new",
    )
    return log_axis(figure, ROUNDING).update_yaxes(tickformat=".1~p")


def _later(diagnostics: Diagnostics) -> Tensor:
    values = diagnostics.residual_energy_by_unit.clone()
    known = torch.nonzero(~torch.isnan(values))
    values[: int(known[0]) + 1 if len(known) else 0] = float("nan")
    return values
