"""The tab Curves: plots of the runs in the viewer, drawn while the tab is open.

Hovering over a curve moves the viewer to that unit; the curves mark the unit in the viewer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gradio as gr
from gradio.components.plot import PlotData

from gleanvid.plots import FIGURES
from gleanvid.run import Run

from ..session.actions import figures
from ..session.actions.runs import GONE, distinct, measured_runs
from ..session.display import message
from ..session.work.engine import Engine
from . import notice
from .events import PRIVATE, Changes, Values, mounted, script
from .panel import Page, Tab

SOME = "Curves of {drawn} of {count} runs in the table: {names} no longer in the viewer."
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
        first = str(page.examples[0].path) if page.examples else None
        self.clip, self.drawn = settings["clip"], gr.State(first)  # clip whose curves are drawn
        inputs = {page.outputs.runs, self.model, self.pixels, page.outputs.compared}
        inputs |= {self.clip, self.drawn}
        drawn = [self.notice, self.legend, self.drawn, *self.plots.values()]
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
        clip = values[self.clip]
        older = {} if values[self.drawn] == clip else self.cleared()
        yield {self.notice: message(DRAWING.format(count=count)), self.drawn: clip} | older
        found = measured_runs(engine, ids, values[self.model], values[self.pixels])
        if not found:
            yield {self.notice: message(GONE, "problem")}
            return
        runs, lost = distinct(found), len(found) < len(ids)
        drawn = {
            self.plots[name]: gr.update(value=figure, visible=figure is not None)
            for name, figure in figures.draw(runs).items()
        }
        missing = message(left_out(engine, values[self.page.outputs.compared], runs))
        summary = message(SOME_GONE, "problem") if lost else missing
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


def left_out(engine: Engine, table: Mapping[str, Any] | None, runs: Sequence[Run]) -> str:
    """Return a sentence that names the rows of the Compare table whose run has no curve.

    Only runs in the viewer, which holds a limited number, have curves. The sentence is empty if
    every row has a curve, or if none has one, as for a table about another clip.
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
