"""One look for every figure: colour-blind-safe colours, transparent ground for light and dark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from gleanvid import compressors
from gleanvid.plots.palette import GREY
from gleanvid.run import Run

_GRID = "rgba(128,128,128,0.25)"


def styled(figure: go.Figure, x_title: str, y_title: str, height: int = 260) -> go.Figure:
    """The figure with the house's axes, margins and colours."""
    axis = {"gridcolor": _GRID, "zerolinecolor": _GRID, "linecolor": _GRID}
    figure.update_layout(
        height=height,
        margin={"l": 56, "r": 16, "t": 32, "b": 44},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": GREY, "size": 12},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        hovermode="x unified",
        bargap=0.15,
        modebar={"remove": ["select2d", "lasso2d", "autoScale2d"]},
    )
    figure.update_xaxes(title=x_title, **axis)
    figure.update_yaxes(title=y_title, rangemode="tozero", **axis)
    return figure


def listed(runs: Run | Sequence[Run]) -> list[Run]:
    """One run or several, as a list."""
    return [runs] if isinstance(runs, Run) else list(runs)


def title_of(run: Run) -> str:
    """The display name of a run's method."""
    return compressors.title_of(str(run.compressor["name"]))


def labels(runs: Sequence[Run]) -> list[str]:
    """A name a run: the compressor's, with its ratio, then other settings where names repeat."""
    names = [title_of(run) for run in runs]
    for tell in (_ratio, _settings):
        twice = {name for name, count in Counter(names).items() if count > 1}
        extras = [tell(run.compressor, [r.compressor for r in runs]) for run in runs]
        names = [
            f"{name} {extra}".strip() if name in twice else name
            for name, extra in zip(names, extras, strict=True)
        ]
    return names


def _ratio(own: Mapping[str, object], _: Sequence[Mapping[str, object]]) -> str:
    ratio = own.get("retention_ratio")
    return f"{ratio:.3%}".replace(".000", "") if isinstance(ratio, (int, float)) else ""


def _settings(own: Mapping[str, object], others: Sequence[Mapping[str, object]]) -> str:
    """The settings in which runs of the same method differ."""
    same = [other for other in others if other["name"] == own["name"]]
    told = [name for name in own if any(other.get(name) != own[name] for other in same)]
    return ", ".join(f"{name} {own[name]}" for name in told if name != "retention_ratio")


def note(figure: go.Figure, text: str) -> None:
    """A sentence in the middle of a figure that has nothing to draw."""
    figure.add_annotation(text=text, showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper")
