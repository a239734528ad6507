"""One look for figures in papers: column widths, embedded fonts, colours that print and differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from gleanvid.plots.palette import DASHES, GREY, SYMBOLS, styles

COLUMN, PAGE = 3.3, 6.75  # inches
_MARKERS = dict(zip(SYMBOLS, ("o", "s", "D", "^", "X", "v", "P"), strict=True))
_DASHES = dict(zip(DASHES, ("-", "--", ":", "-."), strict=True))
_LOOK: Any = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#D9D9D9",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "lines.linewidth": 1.4,
    "lines.markersize": 3.5,
    "legend.frameon": False,
    "pdf.fonttype": 42,  # TrueType, so that text stays text
}


def paper_style() -> Any:
    """Context in which figures are made and saved."""
    return mpl.rc_context(_LOOK)


def new_figure(width: float = COLUMN, height: float = 2.2) -> Figure:
    """An empty figure of a size in inches; no global state, so threads do not meet."""
    return Figure(figsize=(width, height), layout="constrained")


def lines_of(series: Sequence[str], names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Line and marker of every one of ``series``, as in the app's figures.

    ``names``: all series there are, so that each keeps its style where another is missing.
    """
    everyone = list(dict.fromkeys([*names, *series]))
    by_name = dict(zip(everyone, styles(everyone), strict=True))
    return [
        {
            "color": by_name[name]["line"]["color"],
            "linestyle": _DASHES[by_name[name]["line"]["dash"]],
            "marker": _MARKERS[by_name[name]["marker"]["symbol"].removesuffix("-open")],
        }
        for name in series
    ]


def random_line() -> dict[str, Any]:
    """The look of what chance would give."""
    return {"color": GREY, "linestyle": "--", "label": "random positions"}


def legend_above(figure: Figure) -> None:
    """One legend over all axes, where it hides no line."""
    figure.legend(loc="outside upper center", ncols=4, columnspacing=1.0, handlelength=1.6)


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Write PDF, PNG or SVG, by the name's ending; PNG at 300 dots per inch."""
    target = Path(path)
    with paper_style():
        figure.savefig(target, dpi=300, metadata={} if target.suffix == ".png" else None)
    return target
