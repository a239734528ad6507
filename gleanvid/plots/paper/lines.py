"""Curves over the seconds of a clip, one line per run: budgets, novelty, ranks, residual energy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from matplotlib.figure import Figure

from gleanvid.metrics import ROUNDING, diagnostics_of
from gleanvid.plots.labels import labels
from gleanvid.plots.palette import GREY
from gleanvid.plots.paper.layout import PAGE, legend_above, lines_of, new_figure, paper_style
from gleanvid.plots.style import compressed
from gleanvid.run import Run

if TYPE_CHECKING:
    from torch import Tensor


def _diagnosed(name: str) -> Callable[[Run], Tensor | None]:
    return lambda run: getattr(diagnostics_of(run), name, None)


# name of a curve -> label of its axis, its values for a run (None if not measured), logarithmic
CURVES: dict[str, tuple[str, Callable[[Run], Tensor | None], bool]] = {
    "budget": ("tokens kept", lambda run: run.compression.budgets.double(), False),
    "novelty": ("novelty $R$", lambda run: run.compression.trace.get("novelty"), True),
    "rank": ("effective rank\nso far", _diagnosed("effective_rank_so_far"), False),
    "energy": ("residual energy", _diagnosed("residual_energy_by_unit"), True),
}


def budgets(runs: Sequence[Run]) -> Figure:
    """Draw each unit's number of kept tokens, relative to their mean, against time in seconds."""
    names = [str(run.compressor["name"]) for run in runs]
    with paper_style():
        figure = new_figure()
        axes = figure.subplots()
        for run, name, style in zip(runs, names, lines_of(names), strict=True):
            kept = run.compression.budgets.double()
            axes.plot(run.seconds[:, 0], kept / kept.mean(), label=name, **style)
        axes.axhline(1.0, color=GREY, linestyle="--", label="uniform budget B/T")
        axes.set(xlabel="time (s)", ylabel="budget / (B/T)", ylim=(0, None))
        legend_above(figure)
    return figure


def curves(runs: Sequence[Run], names: Sequence[str] = tuple(CURVES)) -> Figure:
    """Draw curves of runs of one clip below each other, on one axis in seconds.

    ``names``: keys of ``CURVES``. A curve that no run has measured is left out. Budgets are drawn
    against the dashed even share B/T, without runs that keep all tokens.

    Raises:
        ValueError: There is no run, or no curve to draw.
    """
    known = measured(runs, names)
    with paper_style():
        figure = new_figure(PAGE, 0.5 + 1.1 * len(known))
        draw_curves(figure, runs, known)
        legend_above(figure)
    return figure


def measured(runs: Sequence[Run], names: Sequence[str] = tuple(CURVES)) -> list[str]:
    """Return the names of the curves that at least one run has; ``ValueError`` if there is none."""
    known = [name for name in names if any(CURVES[name][1](run) is not None for run in runs)]
    if not known:
        raise ValueError("there is nothing to draw: these values were not measured for these runs")
    return known


def draw_curves(figure: Any, runs: Sequence[Run], names: Sequence[str]) -> None:
    """Draw curves into a matplotlib figure or subfigure."""
    grid = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    looks = lines_of([str(run.compressor["name"]) for run in runs])
    named: set[str] = set()  # labels that the legend has already
    for axes, name in zip(grid, names, strict=True):
        title, values_of, is_log = CURVES[name]
        drawn = compressed(runs) if name == "budget" else list(runs)
        for run, label, look in zip(runs, labels(runs), looks, strict=True):
            values = values_of(run) if any(run is one for one in drawn) else None
            if values is None:
                continue
            points = torch.where(values > ROUNDING, values, torch.nan) if is_log else values
            # the end of the last unit closes its step
            ends = torch.cat([run.seconds[:, 0], run.seconds[-1:, 1]]).tolist()
            style = {"color": look["color"], "linestyle": look["linestyle"]}
            style["label"] = f"_{label}" if label in named else label  # "_" hides it in the legend
            axes.step(ends, [*points.tolist(), float(points[-1])], where="post", **style)
            named.add(label)
        if name == "budget":
            shares = {run.compression.num_kept / run.compression.grid[0] for run in drawn}
            for place, even in enumerate(sorted(shares)):
                dashes = {"color": "black", "linestyle": "--", "linewidth": 0.7}
                axes.axhline(even, label="_" if place else "even share B/T", **dashes)
        axes.set_ylabel(title)
        axes.set_yscale("log" if is_log else "linear")
        if not is_log:
            axes.set_ylim(0, None)
    grid[-1].set_xlabel("time (s)")
    figure.align_ylabels()
