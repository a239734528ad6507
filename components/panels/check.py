"""Check: proves on this machine that compression does to the loaded model what it should."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import gradio as gr

from ..files import exports
from ..session.actions import check as checking
from ..session.work.engine import Engine
from . import notice
from .shared import AT_ONCE, Changes, Shared, Values, owner
from .working import starting

if TYPE_CHECKING:
    from gleanvid.evaluation.check.report import Report

ABOUT = (
    "Is compression right and worth it with this model, on this machine? The laws are tested on 8 "
    "frames of the clip above, times are taken on all of them. Others wait for the model meanwhile."
)
FILES = ("Report (Markdown)", "Report (JSON)")


class Check(NamedTuple):
    start: gr.Button
    stop: gr.Button
    quick: gr.Checkbox
    notice: gr.HTML
    report: gr.Markdown
    files: tuple[gr.DownloadButton, ...]


def panel() -> Check:
    gr.Markdown(ABOUT, elem_classes="gv-hint")
    with gr.Row(elem_id="gv-checking"):
        start = gr.Button(
            "Check this model", variant="primary", scale=0, min_width=180, elem_id="gv-check"
        )
        stop = gr.Button("Stop", interactive=False, scale=0, elem_id="gv-check-stop")
        quick = gr.Checkbox(False, label="Laws alone, no times", container=False, min_width=200)
    line = notice.panel()
    with gr.Row(elem_classes="gv-files"):
        files = tuple(
            gr.DownloadButton(title, size="sm", min_width=150, scale=0, visible=False)
            for title in FILES
        )
    report = gr.Markdown(elem_classes="gv-about gv-models", elem_id="gv-report")
    return Check(start, stop, quick, line, report, files)


def wire(engine: Engine, shared: Shared, panel: Check) -> None:
    own = [panel.notice, panel.report, *panel.files]

    def on_check(user: gr.Request, values: Values) -> Iterator[Changes]:
        request = shared.request(shared.unpacked(values))
        for update in checking.check(engine, request, owner(user), bool(values[panel.quick])):
            changes = {panel.notice: update.notice} | reported(panel, update.report)
            yield changes | (shared.working(False) if update.done else {})

    outputs = [*own, *shared.buttons]
    page = engine, shared, panel.notice, panel.stop
    starting(panel.start.click, *page, on_check, outputs, [panel.quick])

    def on_stop(user: gr.Request) -> Changes:
        """The check says how it ends: its step goes on, and what was tested stays."""
        engine.pages.stop(owner(user))
        return gr.update(interactive=False)

    panel.stop.click(on_stop, None, panel.stop, **AT_ONCE)


def reported(panel: Check, report: Report | None) -> Changes:
    """The report with its files; without one nothing of the report before."""
    if report is None:
        return {panel.report: ""} | dict.fromkeys(panel.files, gr.update(visible=False))
    paths = checking.files(report, exports.new_folder())
    files = zip(panel.files, paths, strict=True)
    return {panel.report: checking.as_text(report)} | {
        button: gr.update(value=path, visible=True) for button, path in files
    }
