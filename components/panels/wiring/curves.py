"""The curves are drawn while they are looked at, for the runs on show."""

from __future__ import annotations

from typing import Any

import gradio as gr

from components.panels import curves
from components.panels.page import Page
from components.panels.talk import message
from components.panels.wiring.events import AT_ONCE, UNSEEN
from components.session.engine import Engine
from gleanvid.run import Run

TITLE = "Curves"
GONE = "These runs are no longer on the server. Run them again."
SOME_GONE = (
    "Some of the runs on show are no longer on the server: these are the curves of the rest."
)


def wire(engine: Engine, page: Page, tabs: gr.Tabs) -> None:
    plots = list(page.curves.plots.values())
    outputs = [page.curves.notice, *plots]

    def on_draw(ids: list[str], tab: str, model: str, pixels: int) -> list[Any]:
        if tab != TITLE or not ids:
            return [gr.skip()] * len(outputs)
        runs = told(engine, ids, model, pixels)
        if not runs:
            return [message(GONE, "problem"), *[gr.skip()] * len(plots)]
        lost = SOME_GONE if len(runs) < len(ids) else ""
        drawn = [gr.update(value=fig, visible=fig is not None) for fig in curves.draw(runs)]
        return [message(lost, "problem" if lost else "quiet"), *drawn]

    def on_runs(ids: list[str], *told: Any) -> list[Any]:
        """Another clip leaves no curves of the one before."""
        if not ids:
            return [message(), *[gr.update(value=None, visible=False)] * len(plots)]
        return on_draw(ids, *told)

    inputs = [page.runs, page.tab, page.settings.model, page.settings.pixels]
    tabs.select(opened, None, page.tab, **AT_ONCE).then(on_draw, inputs, outputs, **UNSEEN)
    page.runs.change(on_runs, inputs, outputs, trigger_mode="always_last", **UNSEEN)


def opened(event: gr.SelectData) -> str:
    """The name of the tab that was opened."""
    return str(event.value)


def told(engine: Engine, ids: list[str], model: str, pixels: int) -> list[Run]:
    """The runs on show that are still there, with the diagnostics that can be taken of them.

    ``model`` and ``pixels`` (of a frame) say which encoded clip is meant.
    """
    runs = [run for run in map(engine.runs.get, ids) if run is not None]
    if not runs:
        return []
    video = runs[0].video
    held = engine.encoded(video, model, frozenset(), int(pixels or 0) * len(video) or None)
    return curves.measured(runs, held.tokens if held else None)
