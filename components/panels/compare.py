"""Compare: methods and ratios in one table, with their answers and costs, or blind, two at a time.

The table is drawn by ``assets/results/compare.js``, which also sees when the settings of the page
are no longer those of the table. Votes stay in the browser.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from gleanvid.compressors.base import Compressor

from ..session.actions import compare, plans, rows
from ..session.actions.compare import Compared
from ..session.actions.first import RATIO as FIRST_RATIO
from ..session.actions.plans import RATIOS, Plan
from ..session.actions.rows import Asked
from ..session.display import caveat, message
from ..session.request import NONE, RATIO
from ..viewer import modules
from . import notice
from .clip import shortened
from .events import AT_ONCE, Changes, Values
from .page_state import Inputs, owner
from .panel import Page, Tab
from .working import halted, start

ABOUT = "The clip and question above, under every method you choose. The clip is encoded once."
START = ("gleanvid", "vidcom2", "vcast", "visionzip", "uniform")
HTML = """<div class="gv-compare"></div>"""
CHOSEN = {"compressor", RATIO}  # the table names its methods and shares itself


class CompareTab(Tab):
    title = "Compare"

    def __init__(self, methods: Mapping[str, type[Compressor]]) -> None:
        gr.Markdown(ABOUT, elem_classes="gv-hint")
        names = [(cls.title, name) for name, cls in methods.items() if name != "full"]
        self.methods = gr.CheckboxGroup(
            names,
            value=[name for name in START if name in methods],
            label="Compressors (compared with all tokens)",
            interactive=True,
            elem_id="gv-methods",
            elem_classes="gv-choices",
        )
        with gr.Row(elem_id="gv-comparing"):
            self.ratios = gr.CheckboxGroup(
                [(f"{ratio:.0%}", ratio) for ratio in RATIOS],
                value=[FIRST_RATIO],
                label="Retention ratio",
                interactive=True,
                elem_classes="gv-choices",
            )
            self.start = gr.Button(
                "Compare", variant="primary", scale=0, elem_id="gv-compare-start"
            )
            self.sweep = gr.Button(
                "Sweep B over all ratios", scale=0, min_width=160, elem_id="gv-sweep"
            )
            self.stop = gr.Button("Stop", interactive=False, scale=0, elem_id="gv-compare-stop")
        self.starters, self.stoppers = (self.start, self.sweep), (self.stop,)
        self.notice = notice.panel()
        self.table: Any = gr.HTML(
            None,
            apply_default_css=False,
            html_template=HTML,
            js_on_load=modules.mounting("results/compare.js"),
            elem_id="gv-rows",
        )

    def linked(self) -> dict[str, Any]:
        return {"methods": self.methods, "ratios": self.ratios}

    def connect(self, page: Page) -> None:
        self.page, outputs = page, page.outputs
        self.before = outputs.compared
        own = [self.notice, self.table, self.before]
        changed = [*own, *outputs.previewed, *outputs.buttons]
        asked = [self.methods, self.ratios, self.before]
        self.left_on_show = [
            start(page, button.click, self.notice, self.stop, handler, changed, asked)
            for button, handler in (
                (self.start, self.on_compare),
                (self.sweep, self.on_sweep),
            )
        ]
        ended = self.stop.click(self.on_stop, {self.table, self.before}, changed, **AT_ONCE)
        ended.then(None, None, None, cancels=self.left_on_show)

    def on_compare(self, user: gr.Request, values: Values) -> Iterator[Changes]:
        yield from self.run(user, values, values[self.methods], values[self.ratios])

    def on_sweep(self, user: gr.Request, values: Values) -> Iterator[Changes]:
        inputs = self.page.inputs
        method = inputs.read(values)[inputs.settings["compressor"]]
        yield from self.run(user, values, [method], RATIOS)

    def run(
        self, user: gr.Request, values: Values, names: Sequence[str], ratios: Sequence[float]
    ) -> Iterator[Changes]:
        inputs, engine = self.page.inputs, self.page.engine
        values = inputs.read(values)

        def plan() -> list[Plan]:
            return plans.plans(names, ratios, inputs.maker(values))

        request, sides = inputs.request(values), inputs.sides(values)
        asked = asked_with(inputs, values, names)
        updates = compare.compare(
            engine, owner(user), request, sides.question, plan, sides.runs, sides.pinned
        )
        for update in updates:
            yield self.changes(update, asked, values[self.before])

    def on_stop(self, user: gr.Request, values: Values) -> Changes:
        if halted(self.page.engine, user):
            return gr.skip()
        begun = values[self.table]
        table = rows.settled(begun)
        text = compare.stopped(table["rows"], len(begun["rows"])) if table else "Stopped."
        stopped = {self.notice: message(text)} | self.page.outputs.working(False)
        left = table if table and table["rows"] else rows.earlier(values[self.before])
        return stopped | {self.table: left}

    def changes(self, update: Compared, asked: Asked, before: dict[str, Any] | None) -> Changes:
        """``before``: the table that stays where this comparison ends without a single row."""
        outputs = self.page.outputs
        filled = {
            self.notice: update.notice,
            outputs.runs: update.run_ids,
            outputs.status: update.status,
        }
        changed: Changes = {widget: value for widget, value in filled.items() if value is not None}
        if update.rows:
            table = rows.table_view(update.rows, asked, update.done)
            changed |= {self.table: table} | ({self.before: table} if update.done else {})
        elif update.rows is not None:
            changed[self.table] = rows.earlier(before)
        if update.viewer is not None:
            changed[outputs.viewer] = gr.update(
                version=0, value=update.viewer, answers=update.answers
            )
            changed[outputs.notice] = message()  # it was of what the viewer showed before
        return changed | (outputs.working(False) if update.done else {})


def asked_with(inputs: Inputs, values: Values, methods: Sequence[str]) -> Asked:
    """Return what a comparison of these methods is made with."""
    settings = inputs.by_key(values)
    path, question = settings["clip"] or "", values[inputs.question] or ""
    example = inputs.examples.get(path)
    shown = {
        key: NONE if value is None else value
        for key, value in settings.items()
        if key not in CHOSEN and ("." not in key or key.split(".")[0] in methods)
    }
    shown |= {"clip": shortened(path), "question": question}
    expected = example.expected(question) if example else None
    worth = caveat(example, settings["model"])
    return Asked(question, Path(path).name, expected, shown, worth)
