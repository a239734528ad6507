"""The question, and asking it: the answers stand in the viewer, under the side that gave them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import gradio as gr

from ..session.actions import ask as asking
from ..session.display import STOPPED
from ..session.request import LONGEST
from ..session.work.engine import Engine
from . import notice
from .shared import AT_ONCE, Changes, Shared, Values, owner
from .working import halted, starting

SAVED = "Saved run of the built-in model. Ask to repeat it."


class Talk(NamedTuple):
    question: gr.Textbox
    ask: gr.Button
    stop: gr.Button


def panel(question: str) -> Talk:
    box = gr.Textbox(
        value=question,
        label="Question",
        show_label=False,
        placeholder="What moves, and where to?",
        lines=1,
        max_lines=4,
        max_length=LONGEST,
        interactive=True,
        scale=1,
        min_width=160,
        elem_id="gv-question",
    )
    ask = gr.Button("Ask", variant="primary", scale=0, min_width=84, elem_id="gv-ask")
    stop = gr.Button("Stop", interactive=False, scale=0, min_width=72, elem_id="gv-stop")
    return Talk(box, ask, stop)


def line(is_saved: bool) -> gr.HTML:
    return notice.panel(SAVED if is_saved else "")


def wire(engine: Engine, shared: Shared, panel: Talk) -> None:
    def on_ask(user: gr.Request, values: Values) -> Iterator[Changes]:
        values = shared.unpacked(values)
        given = shared.request(values), shared.sides(values), shared.habits_of(values)
        updates = asking.ask(engine, owner(user), *given, values[shared.exchanges])
        yield from map(shared.changes, updates)

    picked = shared.ready.pick(on_pick, None, panel.question, **AT_ONCE)  # type: ignore[attr-defined]
    clicked = partial(gr.on, [panel.ask.click, panel.question.submit])
    viewer: Any = shared.viewer
    page = engine, shared, shared.notice, panel.stop
    runs = [
        starting(event, *page, on_ask, shared.changed, [shared.exchanges])
        for event in (clicked, picked.then, viewer.ask)
    ]

    def on_stop(user: gr.Request) -> Changes:
        return gr.skip() if halted(engine, user) else shared.changes(STOPPED)

    # The flag first: it frees the model. Cancelling only ends an event that does not end itself.
    ended = panel.stop.click(on_stop, None, shared.changed, **AT_ONCE)
    ended.then(None, None, None, cancels=runs)


def on_pick(event: gr.EventData) -> str:
    """The question on the chip that was pressed; what a page sends is cut to a question's size."""
    return str(getattr(event, "text", ""))[:LONGEST]
