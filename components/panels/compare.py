"""Compare: methods and ratios side by side, with their answers and costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr

from components.panels import notice
from components.panels.shared import AT_ONCE, Changes, Shared, Values, halted, owner, starting
from components.session import comparing, rows
from components.session.comparing import RATIOS, Compared, Plan
from components.session.display import message
from components.session.engine import Engine
from components.session.figures import brief
from gleanvid import plots
from gleanvid.compressors.base import Compressor

LIKELIHOOD = "log-prob. of the full-token answer"
ABOUT = (
    "The same frames, question and seed under every method you choose; the clip is encoded once. "
    "Words that differ from the full-token answer are marked. **Log-prob.** is the mean "
    "log-probability that the model gives the full-token answer under each method: the closer "
    "to the first row, the less was lost. Press **A** or **B** to set a side of the viewer."
)
START = ("gleanvid", "vidcom2", "vcast", "visionzip", "uniform")
SCRIPT = (Path(__file__).resolve().parents[2] / "assets" / "compare.js").read_text("utf-8")
HTML = """<div class="gv-compare"></div>"""


class Compare(NamedTuple):
    methods: gr.CheckboxGroup
    ratios: gr.CheckboxGroup
    start: gr.Button
    sweep: gr.Button
    stop: gr.Button
    notice: gr.HTML
    rows: gr.HTML
    scatter: gr.Plot

    def named(self) -> dict[str, Any]:
        """The widgets whose values a link holds, by key."""
        return {"methods": self.methods, "ratios": self.ratios}


def panel(methods: Mapping[str, type[Compressor]]) -> Compare:
    gr.Markdown(ABOUT, elem_classes="gv-hint")
    names = [(cls.title, name) for name, cls in methods.items() if name != "full"]
    chosen = gr.CheckboxGroup(
        names,
        value=[name for name in START if name in methods],
        label="Compressors",
        info="Besides the full tokens, which always come first",
        interactive=True,
        elem_id="gv-methods",
    )
    ratios = gr.CheckboxGroup(
        [(f"{ratio:.0%}", ratio) for ratio in RATIOS],
        value=[0.25],
        label="Share kept",
        interactive=True,
    )
    with gr.Row(elem_classes="gv-send"):
        start = gr.Button("Compare", variant="primary", scale=2, elem_id="gv-compare-start")
        sweep = gr.Button("Sweep the ratio", scale=2, min_width=120, elem_id="gv-sweep")
        stop = gr.Button(
            "Stop", interactive=False, scale=1, min_width=70, elem_id="gv-compare-stop"
        )
    line = notice.panel()
    rows: Any = gr.HTML(
        None, apply_default_css=False, html_template=HTML, js_on_load=SCRIPT, elem_id="gv-rows"
    )
    scatter = gr.Plot(show_label=False, visible=False, elem_id="gv-scatter")
    return Compare(chosen, ratios, start, sweep, stop, line, rows, scatter)


def wire(engine: Engine, shared: Shared, panel: Compare) -> None:
    def run(
        user: gr.Request, values: Values, names: Sequence[str], ratios: Sequence[float]
    ) -> Iterator[Changes]:
        def plan() -> list[Plan]:
            return comparing.plans(names, ratios, shared.maker(values))

        question, request = values[shared.question] or "", shared.request(values)
        for update in comparing.compare(engine, owner(user), request, question, plan):
            yield changes(shared, panel, update)

    def on_compare(user: gr.Request, values: Values) -> Iterator[Changes]:
        yield from run(user, values, values[panel.methods], values[panel.ratios])

    def on_sweep(user: gr.Request, values: Values) -> Iterator[Changes]:
        yield from run(user, values, [values[shared.settings["compressor"]]], RATIOS)

    asked = {shared.question, *shared.asked}
    chosen = {panel.methods, panel.ratios, *asked}
    own = [panel.notice, panel.rows, panel.scatter]
    outputs = [*own, shared.viewer, shared.runs, shared.status, *shared.buttons]
    begun = [
        starting(panel.start.click, engine, shared, panel.notice, on_compare, chosen, outputs),
        starting(panel.sweep.click, engine, shared, panel.notice, on_sweep, asked, outputs),
    ]

    def on_stop(user: gr.Request, table: dict[str, Any] | None) -> Changes:
        if halted(engine, user):
            return gr.skip()
        stopped = changes(shared, panel, Compared(message("Stopped."), done=True))
        return stopped | {panel.rows: rows.settled(table)}

    ended = panel.stop.click(on_stop, panel.rows, outputs, **AT_ONCE)
    ended.then(None, None, None, cancels=begun)


def changes(shared: Shared, panel: Compare, update: Compared) -> Changes:
    parts = {
        panel.notice: update.notice,
        panel.rows: None if update.rows is None else rows.table_view(update.rows),
        panel.scatter: scatter(update.rows) if update.done and update.rows else None,
        shared.viewer: update.viewer,
        shared.runs: update.run_ids,
        shared.status: update.status,
    }
    changed = {widget: value for widget, value in parts.items() if value is not None}
    return changed | (shared.working(False) if update.done else {})


def scatter(done: list[rows.Row]) -> Any:
    """What every finished method saves and loses; hidden where none finished."""
    finished = [row for row in done if row.run is not None]
    runs = [row.run for row in finished if row.run is not None]
    figure = plots.cost_quality_figure(runs, [row.score for row in finished], LIKELIHOOD)
    figure.for_each_trace(lambda trace: trace.update(name=brief(trace.name)))
    return gr.update(value=figure, visible=bool(runs))
