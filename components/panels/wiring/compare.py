"""Comparing methods, and one method at many ratios."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gradio as gr

from components.panels import controls
from components.panels.curves import brief
from components.panels.page import Page, working
from components.panels.wiring.events import AT_ONCE, session
from components.panels.wiring.question import halted, starting
from components.session import comparing, rows
from components.session.comparing import RATIOS, Compared, Plan
from components.session.engine import Engine
from gleanvid import plots
from gleanvid.compressors import COMPRESSORS
from gleanvid.compressors.base import Compressor

LIKELIHOOD = "log-prob. of the full-token answer"


def wire(engine: Engine, page: Page) -> None:
    panel = page.compare
    shown = [panel.notice, panel.rows, panel.scatter, page.viewer, page.runs, page.status]
    outputs = [*shown, *page.busy()]

    def run(
        user: gr.Request,
        question: str,
        asked: Sequence[Any],
        names: Sequence[str],
        ratios: Sequence[float],
    ) -> Iterator[Any]:
        def plan() -> list[Plan]:
            return comparing.plans(names, ratios, making(page, asked))

        request = page.request(asked)
        results = comparing.compare(engine, session(user), request, question or "", plan)
        yield from map(updates, results)

    def on_compare(
        user: gr.Request, names: list[str], ratios: list[float], question: str, *asked: Any
    ) -> Iterator[Any]:
        yield from run(user, question, asked, names, ratios)

    def on_sweep(user: gr.Request, question: str, *asked: Any) -> Iterator[Any]:
        yield from run(user, question, asked, [asked[SETTINGS_METHOD]], RATIOS)

    asked = [page.talk.question, *page.asked()]
    chosen = [panel.methods, panel.ratios, *asked]
    begun = [
        starting(panel.start.click, engine, page, panel.notice, on_compare, chosen, outputs),
        starting(panel.sweep.click, engine, page, panel.notice, on_sweep, asked, outputs),
    ]

    def on_stop(user: gr.Request, told: dict[str, Any] | None) -> list[Any]:
        stopped = updates(Compared(comparing.message("Stopped."), done=True))
        stopped[1] = rows.settled(told)
        return [gr.skip()] * len(stopped) if halted(engine, user) else stopped

    ended = panel.stop.click(on_stop, panel.rows, outputs, **AT_ONCE)
    ended.then(None, None, None, cancels=begun)


SETTINGS_METHOD = 8  # place of the compressor's name among the values of ``Page.asked``


def making(page: Page, asked: Sequence[Any]) -> Callable[[str, float], Compressor]:
    """A method at a ratio, its other settings as they stand in the sidebar."""
    fields = list(page.settings.controls.fields)
    others = asked[SETTINGS_METHOD + 2 :]
    return lambda name, ratio: controls.chosen(COMPRESSORS, fields, [name, ratio, *others])


def updates(shown: Compared) -> list[Any]:
    """One value for each output; a part that stays is skipped."""
    told = None if shown.rows is None else rows.shown(shown.rows)
    figure = scatter(shown.rows) if shown.done and shown.rows else None
    parts = [shown.notice, told, figure, shown.viewer, shown.run_ids, shown.status]
    values = [gr.skip() if part is None else part for part in parts]
    return [*values, *(working(False) if shown.done else [gr.skip()] * 6)]


def scatter(done: list[rows.Row]) -> Any:
    """What every finished method saves and loses; hidden where none finished."""
    finished = [row for row in done if row.run is not None]
    runs = [row.run for row in finished if row.run is not None]
    figure = plots.cost_quality_figure(runs, [row.score for row in finished], LIKELIHOOD)
    figure.for_each_trace(lambda trace: trace.update(name=brief(trace.name)))
    return gr.update(value=figure, visible=bool(runs))
