"""The figures of runs. A new figure needs a module of its name here and a line in ``FIGURES``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gleanvid.run import Run

Needs = Callable[[Sequence["Run"]], bool]


@dataclass(frozen=True)
class Figure:
    """A plotly figure of runs, drawn by ``NAME_figure`` in the module ``gleanvid.plots.NAME``.

    ``measure``: what the values are. ``x``: "units" if the x axis counts units (from 1), else "".
    ``needs``: a function that returns whether runs have the values that the figure shows.
    """

    name: str
    title: str
    measure: str
    x: str = ""
    needs: Needs = bool

    def draw(self, runs: Run | Sequence[Run]) -> Any:
        """Draw the figure of one run or several with plotly, which is imported here."""
        module = import_module(f"gleanvid.plots.{self.name}")
        return getattr(module, f"{self.name}_figure")(runs)


def _measured(runs: Sequence[Run]) -> bool:
    """Return whether a run has stored diagnostics; the features may no longer be in memory."""
    from gleanvid.metrics import diagnostics_of

    return any(diagnostics_of(run) is not None for run in runs)


def _measured_novelty(runs: Sequence[Run]) -> bool:
    return any("novelty" in run.compression.trace for run in runs)


def _several_ratios(runs: Sequence[Run]) -> bool:
    """Return whether a method has two measured runs, as a curve needs two points."""
    return (
        _measured(runs)
        and max(Counter(str(run.compressor["name"]) for run in runs).values(), default=0) > 1
    )


FIGURES = {
    figure.name: figure
    for figure in (
        Figure("budget", "Tokens kept in each unit", "tokens; dashed: an even share", "units"),
        Figure(
            "novelty", "Novelty of each unit", "novelty R, logarithmic", "units", _measured_novelty
        ),
        Figure(
            "effective_rank",
            "Effective rank within each unit",
            "effective rank, directions",
            "units",
            _measured,
        ),
        Figure(
            "residual_energy",
            "Energy that earlier units do not explain",
            "% of the energy, logarithmic; a line ends where nothing is new",
            "units",
            _measured,
        ),
        Figure(
            "effective_dimension",
            "Effective rank by retention ratio",
            "effective rank, directions; dashed: random",
            needs=_several_ratios,
        ),
    )
}
