"""The tab Check: tests on this machine that compression works correctly in the loaded model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import gradio as gr

from ..files import exports
from ..session.actions import check
from ..session.display import message
from . import notice
from .events import AT_ONCE, Changes, Values
from .page_state import owner
from .panel import Page, Tab
from .served import no_answers
from .working import start

if TYPE_CHECKING:
    from gleanvid.evaluation.check.report import Report

ABOUT = (
    "Does compression work correctly with this model on this machine, and how much time does it "
    "save? Checks run on 8 frames of the clip above, times are measured on all its frames. "
    "Meanwhile, other visitors wait for the model."
)
FILES = ("Report (Markdown)", "Report (JSON)")
LAST = "The last check of this model on this server. Check again to test it on the clip above."


class CheckTab(Tab):
    title = "Check"

    def __init__(self) -> None:
        gr.Markdown(ABOUT, elem_classes="gv-hint")
        no_answers()
        with gr.Row(elem_id="gv-checking"):
            self.start = gr.Button(
                "Check this model", variant="primary", scale=0, min_width=180, elem_id="gv-check"
            )
            self.stop = gr.Button("Stop", interactive=False, scale=0, elem_id="gv-check-stop")
            self.quick = gr.Checkbox(False, label="Skip timing", container=False, min_width=200)
        self.starters, self.stoppers = (self.start,), (self.stop,)
        self.notice = notice.panel()
        with gr.Row(elem_classes="gv-files"):
            self.files = [
                gr.DownloadButton(title, size="sm", min_width=150, scale=0, visible=False)
                for title in FILES
            ]
        self.report = gr.Markdown(elem_classes="gv-about gv-models", elem_id="gv-report")

    def connect(self, page: Page) -> None:
        self.page = page
        outputs = [self.notice, self.report, *self.files, *page.outputs.buttons]
        start(page, self.start.click, self.notice, self.stop, self.on_check, outputs, [self.quick])
        self.stop.click(self.on_stop, None, self.stop, **AT_ONCE)
        shown = [self.notice, self.report, *self.files]
        known: set[Any] = {page.inputs.settings["model"], self.report}
        self.tab.select(self.on_select, known, shown, **AT_ONCE)

    def on_select(self, values: Values) -> Changes:
        """Show the last report on the chosen model, even if another visitor started that check."""
        report = check.last(self.page.engine, values[self.page.inputs.settings["model"]])
        if report is None or values[self.report]:
            return gr.skip()
        return {self.notice: message(LAST)} | self.reported(report)

    def on_check(self, user: gr.Request, values: Values) -> Iterator[Changes]:
        inputs = self.page.inputs
        request, quick = inputs.request(inputs.read(values)), bool(values[self.quick])
        for update in check.check(self.page.engine, request, owner(user), quick):
            changes = {self.notice: update.notice} | self.reported(update.report)
            yield changes | (self.page.outputs.working(False) if update.done else {})

    def on_stop(self, user: gr.Request) -> Changes:
        """Ask the running check to end after its current step; the results so far are shown."""
        self.page.engine.pages.stop(owner(user))
        return gr.update(interactive=False)

    def reported(self, report: Report | None) -> Changes:
        """Show a report and its files for download; None clears the previous report."""
        if report is None:
            return {self.report: ""} | dict.fromkeys(self.files, gr.update(visible=False))
        paths = check.files(report, exports.new_folder())
        files = zip(self.files, paths, strict=True)
        return {self.report: check.as_text(report)} | {
            button: gr.update(value=path, visible=True) for button, path in files
        }
