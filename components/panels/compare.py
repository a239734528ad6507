"""Compare: methods and ratios in one table, with their answers and costs, or blind, two at a time.

The table is drawn by ``assets/results/compare.js``, which also sees when the settings of the page
are no longer those of the table. Votes stay in the browser.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr

from gleanvid.compressors.base import Compressor

from ..session.actions import compare as comparing
from ..session.actions import plans, rows
from ..session.actions.compare import Compared
from ..session.actions.first import RATIO as FIRST_RATIO
from ..session.actions.plans import RATIOS, Plan
from ..session.actions.rows import Asked
from ..session.display import caveat, message
from ..session.request import NONE, RATIO
from ..session.work.engine import Engine
from ..viewer import modules
from . import notice
from .clip import shortened
from .shared import AT_ONCE, Changes, Shared, Values, owner
from .working import halted, starting

ABOUT = "The clip and question above, under every method you choose. The clip is encoded once."
START = ("gleanvid", "vidcom2", "vcast", "visionzip", "uniform")
HTML = """<div class="gv-compare"></div>"""
CHOSEN = {"compressor", RATIO}  # the table names its methods and shares itself


class Compare(NamedTuple):
    methods: gr.CheckboxGroup
    ratios: gr.CheckboxGroup
    start: gr.Button
    sweep: gr.Button
    stop: gr.Button
    notice: gr.HTML
    table: gr.HTML
    before: gr.State  # the last table that was finished

    def named(self) -> dict[str, Any]:
        """The widgets whose values a link holds, by key."""
        return {"methods": self.methods, "ratios": self.ratios}


def panel(methods: Mapping[str, type[Compressor]]) -> Compare:
    gr.Markdown(ABOUT, elem_classes="gv-hint")
    names = [(cls.title, name) for name, cls in methods.items() if name != "full"]
    chosen = gr.CheckboxGroup(
        names,
        value=[name for name in START if name in methods],
        label="Compressors, beside all tokens",
        interactive=True,
        elem_id="gv-methods",
        elem_classes="gv-choices",
    )
    with gr.Row(elem_id="gv-comparing"):
        ratios = gr.CheckboxGroup(
            [(f"{ratio:.0%}", ratio) for ratio in RATIOS],
            value=[FIRST_RATIO],
            label="Share kept",
            interactive=True,
            elem_classes="gv-choices",
        )
        start = gr.Button("Compare", variant="primary", scale=0, elem_id="gv-compare-start")
        sweep = gr.Button("Sweep B over all shares", scale=0, min_width=160, elem_id="gv-sweep")
        stop = gr.Button("Stop", interactive=False, scale=0, elem_id="gv-compare-stop")
    line = notice.panel()
    table: Any = gr.HTML(
        None,
        apply_default_css=False,
        html_template=HTML,
        js_on_load=modules.mounting("results/compare.js"),
        elem_id="gv-rows",
    )
    return Compare(chosen, ratios, start, sweep, stop, line, table, gr.State(None))


def wire(engine: Engine, shared: Shared, panel: Compare) -> list[Any]:
    """The events that have compared methods, and left two of them on show."""

    def run(
        user: gr.Request, values: Values, names: Sequence[str], ratios: Sequence[float]
    ) -> Iterator[Changes]:
        values = shared.unpacked(values)

        def plan() -> list[Plan]:
            return plans.plans(names, ratios, shared.maker(values))

        question, request = values[shared.question] or "", shared.request(values)
        asked = asked_with(shared, values, names)
        tried, pinned = values[shared.runs], shared.sides(values).pinned
        updates = comparing.compare(engine, owner(user), request, question, plan, tried, pinned)
        for update in updates:
            yield changes(shared, panel, update, asked, values[panel.before])

    def on_compare(user: gr.Request, values: Values) -> Iterator[Changes]:
        yield from run(user, values, values[panel.methods], values[panel.ratios])

    def on_sweep(user: gr.Request, values: Values) -> Iterator[Changes]:
        yield from run(
            user, values, [shared.unpacked(values)[shared.settings["compressor"]]], RATIOS
        )

    needed = [panel.before]
    chosen = [panel.methods, panel.ratios, *needed]
    own = [panel.notice, panel.table, panel.before]
    seen = [shared.notice, shared.viewer, shared.runs, shared.status]
    outputs = [*own, *seen, *shared.buttons]
    page = engine, shared, panel.notice, panel.stop
    begun = [
        starting(panel.start.click, *page, on_compare, outputs, chosen),
        starting(panel.sweep.click, *page, on_sweep, outputs, needed),
    ]

    def on_stop(user: gr.Request, values: Values) -> Changes:
        if halted(engine, user):
            return gr.skip()
        begun = values[panel.table]
        table = rows.settled(begun)
        text = comparing.stopped(table["rows"], len(begun["rows"])) if table else "Stopped."
        stopped = {panel.notice: message(text)} | shared.working(False)
        left = table if table and table["rows"] else rows.earlier(values[panel.before])
        return stopped | {panel.table: left}

    ended = panel.stop.click(on_stop, {panel.table, panel.before}, outputs, **AT_ONCE)
    ended.then(None, None, None, cancels=begun)
    return begun


def asked_with(shared: Shared, values: Values, methods: Sequence[str]) -> Asked:
    """What a comparison of these methods is made with."""
    named = shared.named(values)
    path, question = named["clip"] or "", values[shared.question] or ""
    example = shared.examples.get(path)
    settings = {
        name: NONE if value is None else value
        for name, value in named.items()
        if name not in CHOSEN and ("." not in name or name.split(".")[0] in methods)
    }
    settings |= {"clip": shortened(path), "question": question}
    expected = example.expected(question) if example else None
    worth = caveat(example, named["model"])
    return Asked(question, Path(path).name, expected, settings, worth)


def changes(
    shared: Shared,
    panel: Compare,
    update: Compared,
    asked: Asked,
    before: dict[str, Any] | None,
) -> Changes:
    """``before``: the table that stays where this comparison ends without a single row."""
    parts = {
        panel.notice: update.notice,
        shared.runs: update.run_ids,
        shared.status: update.status,
    }
    changed: Changes = {widget: value for widget, value in parts.items() if value is not None}
    if update.rows:
        table = rows.table_view(update.rows, asked, update.done)
        changed |= {panel.table: table} | ({panel.before: table} if update.done else {})
    elif update.rows is not None:
        changed[panel.table] = rows.earlier(before)
    if update.viewer is not None:
        changed[shared.viewer] = gr.update(turn=0, value=update.viewer, answers=update.answers)
        changed[shared.notice] = message()  # it was of what the viewer showed before
    return changed | (shared.working(False) if update.done else {})
