"""The curves of the runs on show, drawn while their tab is open.

Hovering a curve moves the viewer, and the other way round.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import gradio as gr
from gradio.components.plot import PlotData

from components.panels import notice
from components.panels.shared import AT_ONCE, UNSEEN, Changes, Shared, Values
from components.session.display import message
from components.session.engine import Engine
from components.session.figures import OVER_UNITS, TITLES, draw
from components.session.runs import GONE, measured_runs

TITLE = "Curves"
SOME_GONE = (
    "Some of the runs on show are no longer on the server: these are the curves of the rest."
)
ABOUT = (
    "How the kept tokens are spread over the clip, and how well they stand for the rest. A unit is "
    "one step in time as the model sees it, often two frames. Point at a curve and the Tokens tab "
    "moves to that unit. After **Compare** every method has its line. The "
    "figure behind its name is the one in the brackets of the title."
)


class Curves(NamedTuple):
    notice: gr.HTML
    plots: dict[str, gr.Plot]

    def cleared(self) -> Changes:
        return {plot: gr.update(value=None, visible=False) for plot in self.plots.values()}


def panel(figures: Mapping[str, Any]) -> Curves:
    """``figures``: those to begin with, by name, as plotly's JSON."""
    gr.Markdown(ABOUT, elem_classes="gv-hint")
    line = notice.panel()
    plots = {}
    with gr.Row(elem_classes="gv-curves"):
        for name, title in TITLES.items():
            with gr.Column(min_width=320, elem_classes="gv-curve"):
                gr.Markdown(title, elem_classes="gv-curve-title")
                linked = ["gv-linked"] if name in OVER_UNITS else []
                plots[name] = gr.Plot(
                    _plot(figures.get(name)),
                    show_label=False,
                    visible=figures.get(name) is not None,
                    elem_id=f"gv-{name}",
                    elem_classes=["gv-plot", *linked],
                )
    return Curves(line, plots)


def _plot(figure: Any | None) -> PlotData | None:
    """A figure as the browser gets it; plotly itself, slow to import, is not needed for that."""
    return None if figure is None else PlotData(type="plotly", plot=json.dumps(figure))


def wire(engine: Engine, shared: Shared, panel: Curves) -> None:
    def on_draw(values: Values) -> Changes:
        ids = values[shared.runs]
        if values[shared.tab] != TITLE or not ids:
            return gr.skip()
        runs = measured_runs(engine, ids, values[model], values[pixels])
        if not runs:
            return {panel.notice: message(GONE, "problem")}
        lost = len(runs) < len(ids)
        figures = {
            panel.plots[name]: gr.update(value=figure, visible=figure is not None)
            for name, figure in draw(runs).items()
        }
        return {panel.notice: message(SOME_GONE, "problem") if lost else message()} | figures

    def on_runs(values: Values) -> Changes:
        """Another clip leaves no curves of the one before."""
        return (
            on_draw(values) if values[shared.runs] else {panel.notice: message()} | panel.cleared()
        )

    model, pixels = shared.settings["model"], shared.settings["pixels"]
    inputs = {shared.runs, shared.tab, model, pixels}
    outputs = [panel.notice, *panel.plots.values()]
    opened = shared.tabs.select(on_tab, None, shared.tab, **AT_ONCE)
    opened.then(on_draw, inputs, outputs, **UNSEEN)
    shared.runs.change(on_runs, inputs, outputs, trigger_mode="always_last", **UNSEEN)


def on_tab(event: gr.SelectData) -> str:
    """The name of the tab that was opened."""
    return str(event.value)
