"""Search for the lowest retention ratio that keeps the answer, on the tab Compare."""

from __future__ import annotations

from collections.abc import Iterator

import gradio as gr

from ..jobs.display import message
from ..models.served import not_served
from ..widgets import notice
from ..widgets.events import Changes, Values, mounted
from ..widgets.page_state import owner
from ..widgets.panel import Page, Panel
from ..widgets.working import start, stop_with
from . import least

HTML = """<div class="gv-least"></div>"""


class LeastPanel(Panel):
    """Finds each compressor's lowest retention ratio that keeps the answer of all tokens.

    ``methods``: checkboxes of compressors. ``table``: the comparison; its ratios are not run again.
    """

    def __init__(self, methods: gr.CheckboxGroup, table: gr.HTML) -> None:
        self.methods, self.table = methods, table
        with gr.Row(elem_id="gv-finding"):
            self.start = gr.Button(
                "Find the lowest ratio that keeps the answer",
                scale=0,
                min_width=250,
                elem_id="gv-find",
            )
            self.stop = gr.Button("Stop", interactive=False, scale=0, elem_id="gv-find-stop")
        self.starters, self.stoppers = (self.start,), (self.stop,)
        self.notice = notice.panel()
        self.found = mounted("least", HTML)

    def connect(self, page: Page) -> None:
        self.page = page
        changed = [self.notice, self.found, *page.outputs.buttons]
        how = self.notice, self.stop, self.on_find, changed, [self.methods, self.table]
        begun = start(page, self.start.click, *how)
        ended = {self.notice: message("Stopped.")} | page.outputs.working(False)
        stop_with(page, self.stop, [begun], lambda _: ended, changed)

    def on_find(self, user: gr.Request, values: Values) -> Iterator[Changes]:
        inputs, engine = self.page.inputs, self.page.engine
        values = inputs.read(values)
        request = inputs.request(values)
        question = request.worded(inputs.sides(values).question)
        names = [name for name in values[self.methods] if name not in not_served(request.model)]
        make = inputs.maker(values)
        tried = [row["id"] for row in (values[self.table] or {}).get("rows", ()) if row.get("id")]
        tried += values[inputs.runs]
        for update in least.least(engine, owner(user), request, question, names, make, tried):
            changes = {self.notice: update.notice, self.found: update.value}
            shown: Changes = {part: value for part, value in changes.items() if value is not None}
            yield shown | (self.page.outputs.working(False) if update.done else {})
