"""One look for figures in papers: column widths, embedded fonts, colours that print and differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from gleanvid.plots.palette import DASHES, SYMBOLS, styles

COLUMN, PAGE = 3.3, 6.75  # widths in inches: one text column, and a page of two columns
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
    "pdf.fonttype": 42,  # embed fonts as TrueType: text can be selected
}


def paper_style() -> Any:
    """Return a context manager that sets the paper's fonts and sizes, for drawing and saving."""
    return mpl.rc_context(_LOOK)


def new_figure(width: float = COLUMN, height: float = 2.2) -> Figure:
    """Make an empty figure of a size in inches.

    It is not registered with pyplot, so several threads may draw at the same time.
    """
    return Figure(figsize=(width, height), layout="constrained")


def lines_of(series: Sequence[str]) -> list[dict[str, Any]]:
    """Return matplotlib's settings for each of ``series``: the app's colours, dashes and markers.

    Markers are filled. Equal names look the same.
    """
    everyone = list(dict.fromkeys(series))
    by_name = dict(zip(everyone, styles(everyone), strict=True))
    return [
        {
            "color": by_name[name]["line"]["color"],
            "linestyle": _DASHES[by_name[name]["line"]["dash"]],
            "marker": _MARKERS[by_name[name]["marker"]["symbol"].removesuffix("-open")],
        }
        for name in series
    ]


def legend_above(figure: Figure) -> None:
    """Draw one legend above all axes, where it hides no line."""
    figure.legend(loc="outside upper center", ncols=4, columnspacing=1.0, handlelength=1.6)


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a figure as PDF, PNG or SVG, chosen by the file's ending.

    PNG has 300 dots per inch.
    """
    with paper_style():
        figure.savefig(path, dpi=300)
