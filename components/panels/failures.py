"""Open a wrong answer of the evaluation, or a run of a comparison, together with its clip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
from gradio.utils import get_upload_folder
from PIL import Image

from gleanvid.compressors import COMPRESSORS, title_of

from ..session import failures
from ..session.actions import uploads
from ..session.actions.runs import GONE
from ..session.display import message
from ..session.examples import Example, ready
from ..session.request import RATIO
from .clip import ClipPanel
from .controls import Controls, given_settings
from .events import AT_ONCE, PRIVATE, Changes, Values, mounted, script
from .panel import Page, Panel
from .sides import TokensTab

HTML = '<div class="gv-failures"></div>'
FOLDER = "glimpse"  # subfolder of the upload folder, for rendered clips of the evaluation


def fold() -> Any:
    """Make the collapsed list of wrong answers; expanding it fetches them from the server."""
    titles = {name: title_of(name) for name in COMPRESSORS}
    events = "open", "pick"
    return mounted("failures", HTML, None, *events, elem_id="gv-failures", titles=titles)


def folder() -> Path:
    return Path(get_upload_folder()) / FOLDER


def linked_example(name: str) -> Example | None:
    """Return the evaluation clip with this name, rendered if needed; None for other names."""
    item = failures.item_of(name)
    return failures.example_of(item, folder()) if item else None


def shelved(clip: ClipPanel, example: Example, own: Mapping[str, str]) -> Changes:
    """Add a rendered clip of the evaluation to the row of thumbnails of uploaded clips.

    ``own``: path -> thumbnail of the clips already in the row.
    """
    picture = uploads.thumbnail(np.asarray(Image.open(example.path.with_suffix(".jpg"))))
    return clip.shelved(str(example.path), picture, own)


class FailuresPanel(Panel):
    """Opens a wrong answer or a run of a comparison.

    Opening one sets clip and question on the page, its compressor as B and all tokens as A.
    """

    def __init__(self, listed: Any, table: Any, clip: ClipPanel, controls: Controls) -> None:
        """Make the panel for the two widgets whose entries can be opened.

        ``listed``: the list of wrong answers, see :func:`fold`. ``table``: the table of the tab
        Compare.
        """
        self.listed, self.table, self.clip, self.controls = listed, table, clip, controls
        gr.set_static_paths([folder()])

    def connect(self, page: Page) -> None:
        self.page, clip, outputs = page, self.clip, page.outputs
        self.listed.open(failures.known, None, self.listed, **AT_ONCE)
        inputs = {clip.file, clip.own, clip.tried, clip.model, clip.method, outputs.runs}
        filled: Sequence[Any] = [
            *(clip.file, clip.own, clip.tried, clip.shelf, clip.model),
            *(page.inputs.question, page.inputs.pinned, outputs.tabs, *clip.lines),
            *(*outputs.results, *outputs.buttons, *self.controls.widgets),
        ]
        inputs |= {*self.controls.parts}
        picked = self.listed.pick(self.on_pick, inputs, filled, **AT_ONCE)
        picked.success(None, clip.file, None, js=script("askAbout"), **PRIVATE)
        opened = self.table.open(self.on_open, inputs, filled, **AT_ONCE)
        opened.success(None, clip.file, None, js=script("showClip"), **PRIVATE)
        page.preview.after(opened.success, live=False)

    def on_pick(self, user: gr.Request, event: gr.EventData, values: Values) -> Changes:
        """Set the page to a wrong answer's clip, question and settings.

        A script then presses Ask, so that the model answers again.
        """
        method, ratio, item = (getattr(event, name, "") for name in ("method", "ratio", "item"))
        if not failures.is_known(method, ratio, item):
            return gr.skip()
        example = failures.example_of(item, folder())
        settings = {"name": method, RATIO: float(ratio)}
        return self.opened(user, values, str(example.path), example, example.question, settings)

    def on_open(self, user: gr.Request, event: gr.EventData, values: Values) -> Changes:
        """Show a run of a comparison over several clips as B, and its run with all tokens as A."""
        sent, store = getattr(event, "ids", None), self.page.engine.runs
        ids = [str(one) for one in sent] if isinstance(sent, list) and sent else [""]
        run, path = store.get(ids[0]), store.path(ids[0])
        if run is None or path is None or run.compressor.get("name") not in COMPRESSORS:
            return {self.page.outputs.notice: message(GONE, "problem")}
        about = path, store.example(ids[0]), run.question, run.compressor
        changes = self.opened(user, values, *about)
        others = changes[self.page.inputs.runs]
        return changes | {self.page.inputs.runs: list(dict.fromkeys([*ids[:2], *others]))}

    def opened(
        self,
        user: gr.Request,
        values: Values,
        path: str,
        example: Example | None,
        question: str,
        settings: Mapping[str, Any],
    ) -> Changes:
        """Choose a clip and a question; show compressor ``settings`` as B and all tokens as A."""
        clip, inputs, outputs = self.clip, self.page.inputs, self.page.outputs
        changes: Changes = {clip.file: path, inputs.question: question, inputs.pinned: ""}
        if example and example not in self.page.examples:
            inputs.examples[path] = example
            changes |= shelved(clip, example, values[clip.own])
        stood = {key: value for part in self.controls.parts for key, value in values[part].items()}
        return (
            changes
            | clip.ready_again(user)
            | clip.cleared()
            | clip.returning(path, values)
            | clip.suited(values, example)
            | given_settings(self.controls, settings, stood)
            | {outputs.ready: ready(example), outputs.tabs: gr.update(selected=TokensTab.title)}
        )
