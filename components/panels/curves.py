"""The curves of the runs on show, drawn while their tab is open.

Hovering a curve moves the viewer, and the other way round.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import gradio as gr
from gradio.components.plot import PlotData

from gleanvid.plots import FIGURES
from gleanvid.run import Run

from ..session.actions import figures
from ..session.actions.runs import GONE, distinct, measured_runs
from ..session.display import message
from ..session.work.engine import Engine
from ..viewer import modules
from . import notice
from .shared import UNSEEN, Changes, Shared, Values

TITLE = "Curves"
SOME = "{drawn} of {count} compared rows: {names} no longer among the runs on show."
SOME_GONE = (
    "Some of the runs on show are no longer on the server: these are the curves of the rest."
)
DRAWING = "Measuring {count}…"
ABOUT = (
    "A unit is one step in time as the model sees it. Point at a curve to move the viewer there."
)
IF_OPEN = """() => {
  const key = document.querySelector("#gv-key");
  if (!key?.closest("[role=tabpanel]")?.checkVisibility()) throw new Error("its tab is closed");
}"""
KEY = '<div class="gv-key"></div>'


class Curves(NamedTuple):
    notice: gr.HTML
    legend: gr.HTML
    plots: dict[str, gr.Plot]

    @property
    def shown(self) -> list[Any]:
        """What :meth:`cleared` changes."""
        return [self.legend, *self.plots.values()]

    def cleared(self) -> Changes:
        gone = {plot: gr.update(value=None, visible=False) for plot in self.plots.values()}
        return gone | {self.legend: None}


def panel(saved: Mapping[str, Any]) -> Curves:
    """``saved``: those to begin with, as ``figures.as_json`` gave them."""
    gr.Markdown(ABOUT, elem_classes="gv-hint")
    line = notice.panel()
    with gr.Row(elem_classes="gv-results"):
        legend: Any = gr.HTML(
            saved.get("legend"),
            apply_default_css=False,
            html_template=KEY,
            js_on_load=modules.mounting("results/curves.js"),
            elem_id="gv-key",
        )
        with gr.Row(elem_classes="gv-curves"):
            plots = {name: _plot(name, saved.get(name)) for name in FIGURES}
    return Curves(line, legend, plots)


def _plot(name: str, figure: Any | None) -> gr.Plot:
    """A figure as the browser gets it; plotly itself, slow to import, is not needed for that."""
    kind = FIGURES[name]
    linked = ["gv-linked"] if kind.x == "units" else []
    with gr.Column(min_width=280, elem_classes="gv-curve"):
        gr.Markdown(f"{kind.title} <small>{kind.measure}</small>", elem_classes="gv-curve-title")
        return gr.Plot(
            None if figure is None else PlotData(type="plotly", plot=json.dumps(figure)),
            show_label=False,
            visible=figure is not None,
            elem_id=f"gv-{name}",
            elem_classes=["gv-plot", *linked],
        )


def wire(engine: Engine, shared: Shared, panel: Curves, compared: gr.State) -> None:
    """``compared``: the table of the last comparison."""

    def on_draw(values: Values) -> Iterator[Changes]:
        ids = values[shared.runs]
        if not ids:  # another clip leaves no curves of the one before
            yield {panel.notice: message()} | panel.cleared()
            return
        count = "1 method" if len(ids) == 1 else f"{len(ids)} methods"
        yield {panel.notice: message(DRAWING.format(count=count))}
        found = measured_runs(engine, ids, values[model], values[pixels])
        if not found:
            yield {panel.notice: message(GONE, "problem")}
            return
        runs, lost = distinct(found), len(found) < len(ids)
        drawn = {
            panel.plots[name]: gr.update(value=figure, visible=figure is not None)
            for name, figure in figures.draw(runs).items()
        }
        short = message(left_out(engine, values[compared], runs))
        notice = message(SOME_GONE, "problem") if lost else short
        yield {panel.notice: notice, panel.legend: figures.legend(runs)} | drawn

    model, pixels = shared.settings["model"], shared.settings["pixels"]
    inputs, outputs = {shared.runs, model, pixels, compared}, [panel.notice, *panel.shown]
    viewer: Any = shared.viewer
    own = next(tab for tab in shared.tabs.children if isinstance(tab, gr.Tab) and tab.id == TITLE)
    own.select(on_draw, inputs, outputs, **UNSEEN)
    shown = viewer.show(None, None, None, js=IF_OPEN, **UNSEEN)
    shown.success(on_draw, inputs, outputs, trigger_mode="always_last", **UNSEEN)


def left_out(engine: Engine, table: Mapping[str, Any] | None, runs: Sequence[Run]) -> str:
    """Which rows of the comparison have no curve: the viewer, and so the page, takes so many runs.

    Empty where all have one, and for the table of another clip.
    """
    rows = [(row["label"], engine.runs.get(row["id"])) for row in (table or {}).get("rows", [])]
    first, shown = runs[0], [run.compressor for run in runs]
    drawn = [
        (label, run.compressor in shown)
        for label, run in rows
        if run is not None and run.video is first.video and run.model == first.model
    ]
    names = [label for label, has_curve in drawn if not has_curve]
    if not names or len(names) == len(drawn):
        return ""
    listed = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"
    return SOME.format(drawn=len(drawn) - len(names), count=len(drawn), names=listed)
