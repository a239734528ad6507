"""The question box with the buttons Ask and Stop. Answers appear in the viewer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import gradio as gr

from ..jobs.display import STOPPED
from ..jobs.examples import ready
from ..jobs.request import LONGEST
from ..widgets.events import AT_ONCE, Changes, Values
from ..widgets.page_state import owner
from ..widgets.panel import Page, Panel
from ..widgets.working import start, stop_with
from . import ask, measure

SAVED = (  # `python -m tools.opening` finds these clips
    "Saved run of a chosen clip: GleanVID is right here, even spacing wrong. On the next clip, "
    "GleanVID is wrong."
)


class TalkPanel(Panel):
    """Asks the question on Ask or Enter, and on the events in ``also``, set before it connects."""

    def __init__(self, question: str) -> None:
        self.also: Sequence[Any] = ()
        self.question = gr.Textbox(
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
        self.ask = gr.Button("Ask", variant="primary", scale=0, min_width=84, elem_id="gv-ask")
        self.stop = gr.Button("Stop", interactive=False, scale=0, min_width=72, elem_id="gv-stop")
        self.starters, self.stoppers = (self.ask,), (self.stop,)

    def linked(self) -> dict[str, Any]:
        return {"question": self.question}

    def connect(self, page: Page) -> None:
        self.page = page
        outputs = page.outputs
        ready: Any = outputs.ready
        picked = ready.pick(self.on_pick, None, self.question, **AT_ONCE)
        viewer: Any = outputs.viewer
        asked = partial(gr.on, [self.ask.click, self.question.submit, *self.also])
        changed = [*outputs.changed, self.question, outputs.ready]
        work = outputs.notice, self.stop, self.on_ask, changed
        runs = [start(page, event, *work) for event in (asked, picked.then, viewer.ask)]
        measuring = outputs.notice, self.stop, self.on_measure, outputs.changed
        runs.append(start(page, viewer.measure, *measuring))
        stop_with(page, self.stop, runs, lambda _: outputs.changes(STOPPED), outputs.changed)

    def on_ask(self, user: gr.Request, values: Values) -> Iterator[Changes]:
        inputs, outputs = self.page.inputs, self.page.outputs
        values = inputs.read(values)
        request, sides = inputs.request(values), inputs.sides(values)
        reading, both = request.reading(sides.question), bool(values[inputs.both])
        worded: Changes = {}
        if reading:
            sides = replace(sides, question=reading.text or sides.question)
            offered = list(reading.nearest) or ready(request.example)
            worded = {self.question: sides.question, outputs.ready: offered}
        for update in ask.ask(self.page.engine, owner(user), request, sides, both):
            yield worded | outputs.changes(update)
            worded = {}

    def on_measure(self, user: gr.Request, values: Values) -> Iterator[Changes]:
        inputs = self.page.inputs
        values = inputs.read(values)
        request, sides = inputs.request(values), inputs.sides(values)
        updates = measure.measure(self.page.engine, owner(user), request, sides)
        yield from map(self.page.outputs.changes, updates)

    @staticmethod
    def on_pick(event: gr.EventData) -> str:
        """Return the suggested question that was pressed, cut to the maximum length."""
        return str(getattr(event, "text", ""))[:LONGEST]
