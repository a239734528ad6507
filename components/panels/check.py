"""Check: proves on this machine that compression does to the loaded model what it should."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr
from gradio.utils import get_upload_folder

from ..session import checking
from ..session.engine import Engine
from ..session.updates import STOPPED
from . import notice
from .shared import AT_ONCE, Changes, Shared, Values, owner
from .working import halted, starting

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
    report = gr.Markdown(elem_classes="gv-about gv-models gv-report", elem_id="gv-report")
    return Check(start, stop, quick, line, report, files)


def wire(engine: Engine, shared: Shared, panel: Check) -> None:
    own = [panel.notice, panel.report, *panel.files]

    def on_check(user: gr.Request, values: Values) -> Iterator[Changes]:
        request = shared.request(shared.unpacked(values))
        for update in checking.check(engine, request, owner(user), bool(values[panel.quick])):
            changes: dict[Any, Any] = {panel.notice: update.notice, panel.report: ""}
            if update.report is not None:
                folder = Path(get_upload_folder()) / "exports" / secrets.token_hex(8)
                paths = checking.files(update.report, folder)
                changes[panel.report] = checking.as_text(update.report)
                for button, path in zip(panel.files, paths, strict=True):
                    changes[button] = gr.update(value=path, visible=True)
            yield changes | (shared.working(False) if update.done else {})

    outputs = [*own, *shared.buttons]
    run = starting(
        panel.start.click, engine, shared, panel.notice, on_check, outputs, [panel.quick]
    )

    def on_stop(user: gr.Request) -> Changes:
        if halted(engine, user):
            return gr.skip()
        return {panel.notice: STOPPED.notice} | shared.working(False)

    ended = panel.stop.click(on_stop, None, outputs, **AT_ONCE)
    ended.then(None, None, None, cancels=[run])
