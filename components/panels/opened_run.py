"""Open a run of a comparison over several clips, together with its clip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from gleanvid.compressors import COMPRESSORS

from ..session.actions.runs import GONE
from ..session.display import message
from .clip import ClipPanel
from .controls import Controls, given_settings
from .events import AT_ONCE, PRIVATE, Changes, Values, script
from .panel import Page, Panel
from .sides import TokensTab


class OpenedRun(Panel):
    """Sets the page to the clip, question and settings of a run that is opened in a table."""

    def __init__(self, table: Any, clip: ClipPanel, controls: Controls) -> None:
        self.table, self.clip, self.controls = table, clip, controls

    def connect(self, page: Page) -> None:
        self.page, clip, outputs = page, self.clip, page.outputs
        inputs = {clip.file, clip.tried, clip.model, clip.method, outputs.runs}
        filled: Sequence[Any] = [
            *(clip.file, clip.tried, clip.model),
            *(page.inputs.question, page.inputs.pinned, outputs.tabs, *clip.lines),
            *(*outputs.results, *outputs.buttons, *self.controls.widgets),
        ]
        opened = self.table.open(self.on_open, inputs | {*self.controls.parts}, filled, **AT_ONCE)
        opened.success(None, clip.file, None, js=script("showClip"), **PRIVATE)
        page.preview.after(opened.success, live=False)

    def on_open(self, user: gr.Request, event: gr.EventData, values: Values) -> Changes:
        """Show the run as B and the run of the same question with all tokens as A."""
        sent, store = getattr(event, "ids", None), self.page.engine.runs
        ids = [str(one) for one in sent] if isinstance(sent, list) and sent else [""]
        run, path = store.get(ids[0]), store.path(ids[0])
        if run is None or path is None or run.compressor.get("name") not in COMPRESSORS:
            return {self.page.outputs.notice: message(GONE, "problem")}
        clip, inputs, outputs = self.clip, self.page.inputs, self.page.outputs
        example = store.example(ids[0])
        stood = {key: value for part in self.controls.parts for key, value in values[part].items()}
        changes = clip.ready_again(user) | clip.shown(path, example, run.question, values)
        runs = list(dict.fromkeys([*ids[:2], *changes[inputs.runs]]))
        changes |= given_settings(self.controls, run.compressor, stood)
        tab = gr.update(selected=TokensTab.title)
        return changes | {inputs.pinned: "", inputs.runs: runs, outputs.tabs: tab}
