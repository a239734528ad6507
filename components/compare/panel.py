"""The tab Compare: a table of methods and ratios with answers and costs.

The table is drawn by ``assets/results/compare.js``, which also detects when the settings of the
page have changed since the table was computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr

from gleanvid.compressors.base import Compressor

from ..jobs import clock
from ..jobs.display import message
from ..jobs.methods import RATIO, can_answer
from ..jobs.request import FIRST_RATIO, NONE, Request
from ..models.served import not_served
from ..places import ASSETS
from ..tokens.answers import caveat
from ..tokens.clip import shortened
from ..widgets import notice
from ..widgets.events import PRIVATE, Changes, Values, mounted, script
from ..widgets.page_state import Inputs, owner
from ..widgets.panel import Page, Tab
from ..widgets.working import start, stop_with
from . import comparing as compare
from . import plans, rows
from .comparing import Compared
from .least_panel import LeastPanel
from .plans import RATIOS, Plan
from .questions_panel import QuestionsPanel
from .rows import Asked

ABOUT = "<h2>On this clip</h2><p>One question is an anecdote: a list of questions says more.</p>"
START = ("gleanvid", "vidcom2", "vcast", "visionzip", "divprune", "uniform")
HTML = """<div class="gv-compare"></div>"""
RECORDED = "A recording answers about its own clip only: leave out questions about other clips."
# A table of results stays valid if these settings of the page change: Compare has checkboxes of
# its own for compressors and ratios.
CHOSEN = {"compressor", RATIO}


class CompareTab(Tab):
    title = "Compare"

    def __init__(self, methods: Mapping[str, type[Compressor]]) -> None:
        evidence = (ASSETS / "evidence.html").read_text(encoding="utf-8")
        for markup in (evidence, ABOUT):
            gr.HTML(markup, js_on_load=None, apply_default_css=False, elem_classes="gv-heading")
        names = boxes({name: cls.title for name, cls in methods.items()})
        self.methods = gr.CheckboxGroup(
            names,
            value=[name for name in START if name in methods],
            label="Compressors (a run with all tokens is always added)",
            interactive=True,
            elem_id="gv-methods",
            elem_classes="gv-choices",
        )
        more = gr.Button("More compressors", size="sm", elem_id="gv-more-methods")
        more.click(None, None, None, js=script("showMethods"), **PRIVATE)
        self.questions = QuestionsPanel()
        with gr.Row(elem_id="gv-comparing"):
            self.ratios = gr.CheckboxGroup(
                [(f"{ratio:.0%}", ratio) for ratio in RATIOS],
                value=[FIRST_RATIO],
                label="Retention ratio",
                interactive=True,
                elem_classes="gv-choices",
            )
            self.measured = gr.Checkbox(
                True,
                label="Measure what mattered",
                scale=0,
                min_width=190,
                interactive=True,
                elem_id="gv-measured",
            )
            self.start = gr.Button(
                "Compare", variant="primary", scale=0, elem_id="gv-compare-start"
            )
            self.stop = gr.Button("Stop", interactive=False, scale=0, elem_id="gv-compare-stop")
        self.notice = notice.panel()
        self.table = mounted("compare", HTML, elem_id="gv-rows")
        self.least = LeastPanel(self.methods, self.table)
        self.starters = self.start, *self.least.starters
        self.stoppers = self.stop, *self.least.stoppers

    def linked(self) -> dict[str, Any]:
        return {"methods": self.methods, "ratios": self.ratios}

    def connect(self, page: Page) -> None:
        self.page, outputs = page, page.outputs
        self.least.connect(page)
        self.questions.connect(page)
        changed = [self.notice, self.table, *outputs.previewed, *outputs.buttons]
        asked = [self.methods, self.ratios, self.measured, self.questions.listed]
        begun = start(
            page, self.start.click, self.notice, self.stop, self.on_compare, changed, asked
        )
        self.left_on_show = [begun]
        stop_with(page, self.stop, [begun], self.on_stopped, changed, [self.table])

    def on_compare(self, user: gr.Request, values: Values) -> Iterator[Changes]:
        inputs, engine = self.page.inputs, self.page.engine
        values = inputs.read(values)
        request, sides = inputs.request(values), inputs.sides(values)
        names = [name for name in values[self.methods] if name not in not_served(request.model)]
        listed = values[self.questions.listed] if can_answer(request.model) else []
        others = {path for *_, path in listed} - {values[inputs.settings["clip"]] or ""}
        is_refused = request.model in inputs.recordings and bool(others)

        def plan() -> list[Plan]:
            if is_refused:
                raise ValueError(RECORDED)
            return plans.plans(names, values[self.ratios], inputs.maker(values))

        asked = asked_with(inputs, values, names, listed)
        first, *more = [request.worded(text) for text, _ in asked.questions]
        requests = [of_clip(inputs, request, path) for *_, path in listed]
        updates = compare.compare(
            engine,
            owner(user),
            request,
            first,
            plan,
            sides.runs,
            sides.pinned,
            more,
            bool(values[self.measured]),
            requests,
        )
        for update in updates:
            yield self.changes(update, asked)

    def on_stopped(self, values: Values) -> Changes:
        begun = values[self.table]
        table = rows.settled(begun)
        text = compare.stopped(table["rows"], len(begun["rows"])) if table else "Stopped."
        stopped = {self.notice: message(text)} | self.page.outputs.working(False)
        return stopped | {self.table: table if table and table["rows"] else None}

    def changes(self, update: Compared, asked: Asked) -> Changes:
        """Return the new widget values that show an update of the comparison."""
        # If the viewer changes, the page's message was about the runs shown before.
        own = message() if update.viewer is not None else None
        changed = self.page.outputs.changes(replace(update, notice=own))
        if update.notice is not None:
            changed[self.notice] = update.notice
        if update.rows is not None:
            table = rows.table_view(update.rows, asked, update.done)
            changed[self.table] = table if update.rows else None
        return changed


def boxes(titles: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return (title, name) of each compressor's checkbox; those of ``START`` come first."""
    names = sorted(titles, key=lambda name: START.index(name) if name in START else len(START))
    return [(titles[name], name) for name in names if name != "full"]


def asked_with(
    inputs: Inputs,
    values: Values,
    methods: Sequence[str],
    listed: Sequence[tuple[str, str | None, str]] = (),
) -> Asked:
    settings = inputs.by_key(values)
    path, model = settings["clip"] or "", settings["model"]
    asks = can_answer(model)
    rows = listed or [(values[inputs.question] or "" if asks else "", None, path)]
    examples = [inputs.example(clip) for *_, clip in rows]
    questions = [
        (text, truth or (example.expected(text) if example else None))
        for (text, truth, _), example in zip(rows, examples, strict=True)
    ]
    names = [Path(clip).name for *_, clip in rows]
    clips = names if {clip for *_, clip in rows} != {path} else []
    question, expected = questions[0]
    shown = {
        key: NONE if value is None else value
        for key, value in settings.items()
        if key not in CHOSEN and ("." not in key or key.split(".")[0] in methods)
    }
    shown |= {"clip": shortened(path)} | ({} if listed or not asks else {"question": question})
    if clips:
        del shown["clip"]  # the results stay valid if another clip is chosen
    worth = next(filter(None, (caveat(example, model) for example in examples)), "")
    name = f"{len(set(names))} clips" if len(set(names)) > 1 else names[0]
    busy = clock.busy() if asks else ""  # a model without answers is not timed
    return Asked(question, name, expected, shown, worth, questions, busy, clips)


def of_clip(inputs: Inputs, request: Request, path: str) -> Request:
    """Return ``request`` for the clip at ``path``; a request to a recording is unchanged."""
    if path == request.path or request.model in inputs.recordings:
        return request  # a recording holds the answers about one clip only
    return replace(request, path=path, example=inputs.example(path))
