"""Accuracy, or the fraction of evidence that is kept, against the retention ratio.

Each method has one line with confidence intervals. Up to six methods share one panel. If there are
more, each other method gets its own panel, with GleanVID's curve in it for comparison. Colours are
Okabe and Ito's; markers and dashes also distinguish the lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gleanvid.compressors.full_tokens import FullTokens

# retention ratio, value, lower and upper end of its confidence interval; all in [0, 1]
Point = tuple[float, float, float, float]

OURS = "GleanVID"  # GleanVID's title in tables
_TOGETHER = 6
_COLOURS = ("#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = "sD^vPX"
_DASHES = ((0, (5, 1.5)), (0, (1, 1.2)), (0, (4, 1.5, 1, 1.5)), (0, (7, 2)), (0, (2, 2)), "solid")
_BLUE, _GREY = "#0072B2", "#999999"


def retention_figure(
    curves: Mapping[str, Sequence[Point]], y_title: str, full: float | None = None, title: str = ""
) -> Any:
    """Draw accuracy against the retention ratio with matplotlib.

    ``curves``: points of each method, by its title. ``y_title``: what the values are. ``full``: the
    value with all tokens, drawn as a dashed line.
    """
    from matplotlib.figure import Figure

    ordered = {name: sorted(curves[name]) for name in _ours_first(curves)}
    if len(ordered) <= _TOGETHER:
        figure = Figure(figsize=(7.2, 4.6), layout="constrained")
        axes = figure.subplots()
        for place, (name, points) in enumerate(ordered.items()):
            _line(axes, name, points, place)
        _finish(axes, ordered, full)
        axes.legend(fontsize=9, frameon=False, loc="lower right")
        axes.set(xlabel="visual tokens kept, mean over layers (%)", ylabel=y_title)
    else:
        figure = _method_panels(ordered, y_title, full)
        title += f"\nsolid blue: {OURS}, dashed red: the method named above; bands: 95 %"
    if title:
        figure.suptitle(title.strip(), fontsize=10)
    return figure


def group_figure(
    groups: Mapping[str, Mapping[str, Sequence[Point]]], full: Mapping[str, float], title: str = ""
) -> Any:
    """Draw accuracy against the retention ratio in one panel for each group of questions.

    ``groups``: points of each method, by its title, for each group. If there are more than six
    methods, all but GleanVID are grey and have no confidence intervals. ``full``: accuracy with all
    tokens for each group, drawn as a dashed line.
    """
    figure, panels = _panels(len(groups), "accuracy (%)")
    for axes, (group, curves) in zip(panels, groups.items(), strict=True):
        ordered = {name: sorted(curves[name]) for name in _ours_first(curves)}
        for place, (name, points) in enumerate(ordered.items()):
            if len(ordered) <= _TOGETHER or name == OURS:
                _line(axes, name, points, place)
            else:
                _plain(axes, points, "_" if place > 1 else "other methods")
        _finish(axes, ordered, None)
        _level(axes, full[group])
        axes.set_title(group, fontsize=10)
    lines, names = panels[0].get_legend_handles_labels()
    figure.legend(
        lines, names, loc="outside lower center", ncols=len(names), fontsize=9, frameon=False
    )
    figure.suptitle(f"{title}; dashed grey: all tokens".strip("; "), fontsize=10)
    return figure


def _method_panels(curves: Mapping[str, Sequence[Point]], y_title: str, full: float | None) -> Any:
    """Draw one panel for each method but GleanVID, whose curve is in all of them."""
    rivals = [name for name in curves if name != OURS]
    figure, panels = _panels(len(rivals), y_title)
    for axes, name in zip(panels, rivals, strict=True):
        if OURS in curves:
            _line(axes, OURS, curves[OURS], 0)
        _line(axes, name, curves[name], 1)
        _finish(axes, curves, full)
        axes.set_title(name, fontsize=10, color=_COLOURS[0])
    return figure


def _panels(count: int, y_title: str) -> tuple[Any, list[Any]]:
    """Make a figure of ``count`` panels with common axes, at most four in a row."""
    from matplotlib.figure import Figure

    columns = min(4, count)
    rows = -(-count // columns)
    figure = Figure(figsize=(2.75 * columns, 2.3 * rows + 0.9), layout="constrained")
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flatten()
    for axes in grid[count:]:
        axes.set_axis_off()
    for axes in grid[max(0, count - columns) : count]:
        axes.tick_params(labelbottom=True)
        axes.set_xlabel("tokens kept (%)", fontsize=9)
    figure.supylabel(y_title, fontsize=10)
    return figure, list(grid[:count])


def _plain(axes: Any, points: Sequence[Point], label: str) -> None:
    kept, value = [100 * point[0] for point in points], [100 * point[1] for point in points]
    axes.plot(kept, value, color=_GREY, lw=0.8, zorder=2, label=label)


def _line(axes: Any, name: str, points: Sequence[Point], place: int) -> None:
    kept, value, low, high = (
        [100 * part for part in column] for column in zip(*points, strict=True)
    )
    ours = name == OURS
    colour = _BLUE if ours else _COLOURS[(place - 1) % len(_COLOURS)]
    axes.fill_between(kept, low, high, color=colour, alpha=0.18 if ours else 0.10, lw=0)
    axes.plot(
        kept,
        value,
        color=colour,
        linestyle="solid" if ours else _DASHES[(place - 1) % len(_DASHES)],
        marker="o" if ours else _MARKERS[(place - 1) % len(_MARKERS)],
        markersize=5,
        linewidth=2.4 if ours else 1.5,
        zorder=5 if ours else 3,
        label=name,
    )


def _level(axes: Any, value: float) -> None:
    axes.axhline(100 * value, color=_GREY, linestyle=(0, (6, 3)), lw=1.2, zorder=1)


def _finish(axes: Any, curves: Mapping[str, Sequence[Point]], full: float | None) -> None:
    """Make the x axis logarithmic, with round percentages as ticks, and draw ``full`` as a line."""
    if full is not None:
        _level(axes, full)
        axes.annotate(
            f"{FullTokens.title} {100 * full:.1f}",
            (0.01, 100 * full),
            xycoords=("axes fraction", "data"),
            xytext=(0, 2),
            textcoords="offset points",
            fontsize=8,
            color="#666666",
        )
    ticks = _ticks([100 * point[0] for points in curves.values() for point in points])
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def _ticks(kept: Sequence[float]) -> list[float]:
    """Choose round percentages as axis ticks, in the range of ``kept`` (ratios in percent)."""
    every = (0.5, 1, 2, 3, 5, 10, 15, 25, 50, 100)
    low, high = min(kept), max(kept)
    return [tick for tick in every if 0.9 * low <= tick <= 1.1 * high] or [round(low, 1)]


def _ours_first(curves: Mapping[str, Sequence[Point]]) -> list[str]:
    return sorted((name for name in curves if curves[name]), key=lambda name: name != OURS)
