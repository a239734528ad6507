"""The tab Curves: plots of the runs in the viewer, drawn while the tab is open.

Hovering over a curve moves the viewer to that unit; the curves mark the unit in the viewer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import gradio as gr
from gradio.components.plot import PlotData

from gleanvid.plots import FIGURES

from ..jobs.display import message
from ..widgets import notice
from ..widgets.events import PRIVATE, Changes, Values, mounted, script
from ..widgets.panel import Page, Tab
from . import figures
from .runs import GONE, distinct, measured_runs

SOME_GONE = "Some runs are no longer on the server; the curves show the others."
DRAWING = "Measuring {count}…"
ABOUT = (
    "A unit is one step in time as the model sees it. Point at a curve to move the viewer there."
)
KEY = '<div class="gv-key"></div>'


class CurvesTab(Tab):
    """The tab Curves. ``saved``: the initial curves, as returned by ``figures.as_json``."""

    title = "Curves"

    def __init__(self, saved: Mapping[str, Any]) -> None:
        gr.Markdown(ABOUT, elem_classes="gv-hint")
        self.notice = notice.panel()
        with gr.Row(elem_classes="gv-results"):
            self.legend = mounted("curves", KEY, saved.get("legend"), elem_id="gv-key")
            with gr.Row(elem_classes="gv-curves"):
                self.plots = {name: _plot(name, saved.get(name)) for name in FIGURES}

    def connect(self, page: Page) -> None:
        self.page, settings = page, page.inputs.settings
        self.model, self.pixels = settings["model"], settings["pixels"]
        inputs = {page.outputs.runs, self.model, self.pixels}
        drawn = [self.notice, self.legend, *self.plots.values()]
        latest: dict[str, Any] = {"trigger_mode": "always_last", **PRIVATE}
        page.signals.draw(self.on_draw, inputs, drawn, **latest)
        viewer: Any = page.outputs.viewer
        for event in (self.tab.select, viewer.show):
            event(None, None, None, js=script("signalSeen", "gv-key", "draw"), **PRIVATE)

    def cleared(self) -> Changes:
        gone = {plot: gr.update(value=None, visible=False) for plot in self.plots.values()}
        return gone | {self.legend: None}

    def on_draw(self, values: Values) -> Iterator[Changes]:
        engine, ids = self.page.engine, values[self.page.outputs.runs]
        if not ids:  # another clip was chosen, which has no runs yet
            yield {self.notice: message()} | self.cleared()
            return
        count = "1 method" if len(ids) == 1 else f"{len(ids)} methods"
        yield {self.notice: message(DRAWING.format(count=count))}
        found = measured_runs(engine, ids, values[self.model], values[self.pixels])
        if not found:
            yield {self.notice: message(GONE, "problem")}
            return
        runs, lost = distinct(found), len(found) < len(ids)
        drawn = {
            self.plots[name]: gr.update(value=figure, visible=figure is not None)
            for name, figure in figures.draw(runs).items()
        }
        summary = message(SOME_GONE, "problem") if lost else message()
        yield {self.notice: summary, self.legend: figures.legend(runs)} | drawn


def _plot(name: str, figure: Any | None) -> gr.Plot:
    """Make the plot of a figure from its JSON, which avoids the slow import of plotly."""
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
