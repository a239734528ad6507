"""One look for figures in papers: column widths, embedded fonts, colours that print and differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from gleanvid.plots.palette import DASHES, GREY, SYMBOLS, styles

COLUMN, PAGE = 3.3, 6.75  # widths in inches
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
    """Use the paper's fonts and sizes within the block, for drawing and for saving."""
    return mpl.rc_context(_LOOK)


def new_figure(width: float = COLUMN, height: float = 2.2) -> Figure:
    """Make an empty figure, size in inches; without global state, so threads may draw at once."""
    return Figure(figsize=(width, height), layout="constrained")


def lines_of(series: Sequence[str], names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return line and marker of each of ``series``, as in the app's figures.

    ``names``: all series of all figures, so that each looks the same in every figure.
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
    """Return the look of the line of random tokens."""
    return {"color": GREY, "linestyle": "--", "label": "random positions"}


def legend_above(figure: Figure) -> None:
    """Draw one legend above all axes, where it hides no line."""
    figure.legend(loc="outside upper center", ncols=4, columnspacing=1.0, handlelength=1.6)


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Write PDF, PNG or SVG, as the file's name ends; PNG with 300 dots per inch."""
    target = Path(path)
    with paper_style():
        figure.savefig(target, dpi=300, metadata={} if target.suffix == ".png" else None)
    return target
