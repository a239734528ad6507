"""The figures of the curves, from runs: one for each name in ``TITLES``."""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from gleanvid import plots
from gleanvid.metrics import debiased, diagnose, diagnostics_of, with_diagnostics
from gleanvid.run import Run
from gleanvid.types import VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

OVER_UNITS = {  # name: what it says; x is the temporal unit
    "budget": "Tokens kept in each unit, against the even share B/T (Gini)",
    "novelty": "Novelty: what a unit shows that none before it did",
    "effective_rank": "Effective rank of the kept tokens of a unit: directions spanned (over all)",
    "residual_energy": "Residual energy: what kept tokens of other units cannot explain (mean)",
    "basis_rank": "Rank of the basis of all kept tokens so far (in the end)",
}
OVERALL = {
    "spatial_iou": "Overlap of kept positions between units, by their distance",
    "mask_overlap": "Overlap of the kept tokens between compressors",
    "coverage_error": "Coverage error: energy of the clip that the kept tokens miss",
    "effective_dimension": "Effective dimension of all kept tokens, against the share kept",
}
TITLES = OVER_UNITS | OVERALL
SHARES = {"residual_energy", "coverage_error"}  # small ones need digits that count
LEGEND_LINE = 19  # pixels
LEGEND_NAME = 16  # characters that fit into one of two columns, % being two wide
ENTRY = {1: 0.99, 2: 0.49}  # columns: width of each as a share of the picture's
LEGEND = {  # below the picture; a vertical one would move the picture aside
    "orientation": "h",
    "entrywidthmode": "fraction",
    "x": 0,
    "xanchor": "left",
    "xref": "container",
    "y": 0,
    "yref": "container",
    "yanchor": "bottom",
    "font": {"size": 10},
}
LOG_RANGE = (-4.0, 0.1)  # powers of ten beside the whole or the highest; below is rounding

_debiased: WeakKeyDictionary[VideoTokens, Tensor] = WeakKeyDictionary()
_measuring = threading.Lock()


def draw(runs: Sequence[Run]) -> dict[str, Any]:
    """A figure by each name; None where there is nothing to draw."""
    hidden = set(TITLES) if not runs else {"mask_overlap"} if len(runs) == 1 else set()
    return {name: None if name in hidden else _figure(name, list(runs)) for name in TITLES}


def _figure(name: str, runs: list[Run]) -> Any:
    """The figure with its legend below, so that many runs leave the picture its height."""
    figure = getattr(plots, f"{name}_figure")(runs)
    figure.for_each_trace(lambda trace: trace.update(name=brief(trace.name or "")))
    for axis in ("x", "y") if name == "mask_overlap" else ():
        figure.data[0][axis] = [brief(label) for label in figure.data[0][axis]]
    widths = [len(trace.name) + trace.name.count("%") for trace in figure.data]
    columns = 2 if max(widths, default=0) <= LEGEND_NAME else 1
    below = LEGEND_LINE * -(-len(figure.data) // columns) if name != "mask_overlap" else 0
    legend = LEGEND | {"entrywidth": ENTRY[columns], "maxheight": below + LEGEND_LINE}
    figure.update_layout(legend=legend, height=figure.layout.height + below)
    figure.update_layout(margin={"t": 12, "r": 8, "b": figure.layout.margin.b + below})
    if name in SHARES:
        figure.update_yaxes(tickformat=".2~p")
    if figure.layout.yaxis.type == "log":
        tops = [] if name in SHARES else [max(line.y) for line in figure.data]
        highest = max(tops, default=0.0) or 1.0
        figure.update_yaxes(range=[math.log10(highest) + edge for edge in LOG_RANGE])
    return figure


def brief(name: str) -> str:
    """A method with its one figure: what the figure is stands in the title of the curve."""
    return re.sub(r"\((?:[a-zA-Z]+ )?([\d.]+%?)[^,)]*\)", r"(\1)", name)


def measured(runs: Sequence[Run], tokens: VideoTokens | None) -> list[Run]:
    """The runs with the diagnostics that need the clip's features, where these are at hand."""
    if tokens is None:
        return list(runs)
    with _measuring:  # two pages that ask at once would do the work twice
        features = _debiased.get(tokens)
        if features is None:
            features = _debiased[tokens] = debiased(tokens.features.float())
        return [run if diagnostics_of(run) else _diagnosed(run, features) for run in runs]


def _diagnosed(run: Run, features: Tensor) -> Run:
    record = run.compression
    if record.num_tokens != len(features):
        return run
    return with_diagnostics(run, diagnose(features, record.to(features.device)))
