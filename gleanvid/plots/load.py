"""Throughput and latency of servers against the retention ratio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Point = tuple[float, float, float]  # retention ratio, requests per second, seconds to first token

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
_MARKERS = "osD^v"


def load_figure(loads: Mapping[int, Sequence[Point]]) -> Any:
    """Draw throughput and latency against the retention ratio, with matplotlib.

    ``loads``: points of each line, by its number of concurrent requests.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 3.6), layout="constrained")
    panels = figure.subplots(1, 2)
    for place, (at_once, points) in enumerate(sorted(loads.items())):
        shares, *columns = zip(*sorted(points), strict=True)
        look = {"color": _COLOURS[place % 5], "marker": _MARKERS[place % 5], "lw": 1.8}
        for axes, values in zip(panels, columns, strict=True):
            axes.plot(
                [100 * share for share in shares], values, label=f"{at_once} concurrent", **look
            )
    for axes, name in zip(panels, ("requests a second", "first token (s)"), strict=True):
        axes.set(xlabel="visual tokens kept (%)", ylabel=name, xlim=(0, 104), ylim=(0, None))
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].legend(fontsize=9, frameon=False)
    return figure
