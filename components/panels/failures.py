"""Where methods fail: wrong answers of the evaluation as a list, each opened by a press."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
from gradio.utils import get_upload_folder
from PIL import Image

from gleanvid.compressors import COMPRESSORS, title_of

from ..session import failures
from ..session.actions import uploads
from ..session.examples import ready
from ..session.request import RATIO
from ..viewer import modules
from .clip import ClipPanel
from .controls import Controls, given_settings
from .events import AT_ONCE, PRIVATE, Changes, Values, script
from .panel import Page, Panel
from .sides import TokensTab

HTML = '<div class="gv-failures"></div>'
FOLDER = "glimpse"  # of the clips, among the files of visitors


def fold() -> Any:
    """Return the list, which is fetched when it is opened."""
    return gr.HTML(
        None,
        apply_default_css=False,
        html_template=HTML,
        js_on_load=modules.mounting(
            "results/failures.js",
            ("open", "pick"),
            titles={name: title_of(name) for name in COMPRESSORS},
        ),
        elem_id="gv-failures",
    )


def folder() -> Path:
    return Path(get_upload_folder()) / FOLDER


class FailuresPanel(Panel):
    """Opens the clip, the question, the method and the ratio of a failure, and asks."""

    def __init__(self, listed: Any, clip: ClipPanel, controls: Controls) -> None:
        self.listed, self.clip, self.controls = listed, clip, controls
        gr.set_static_paths([folder()])

    def connect(self, page: Page) -> None:
        self.page, clip, outputs = page, self.clip, page.outputs
        self.listed.open(failures.known, None, self.listed, **AT_ONCE)
        inputs = {clip.file, clip.own, clip.tried, clip.model, clip.method, outputs.runs}
        filled: Sequence[Any] = [
            *(clip.file, clip.own, clip.tried, clip.shelf, clip.model),
            *(page.inputs.question, outputs.ready, outputs.notice, outputs.tabs),
            *(*outputs.results, *outputs.buttons, *self.controls.widgets),
        ]
        picked = self.listed.pick(self.on_pick, {*inputs, *self.controls.parts}, filled, **AT_ONCE)
        picked.success(None, clip.file, None, js=script("askAbout"), **PRIVATE)

    def on_pick(self, user: gr.Request, event: gr.EventData, values: Values) -> Changes:
        """Fill the page as the failure was; the answer follows by Ask."""
        method, ratio, item = (getattr(event, name, "") for name in ("method", "ratio", "item"))
        if not failures.is_known(method, ratio, item):
            return gr.skip()
        clip, inputs, outputs = self.clip, self.page.inputs, self.page.outputs
        example = failures.example_of(item, folder())
        path = str(example.path)
        inputs.examples[path] = example
        picture = uploads.thumbnail(np.asarray(Image.open(example.path.with_suffix(".jpg"))))
        stood = {key: value for part in self.controls.parts for key, value in values[part].items()}
        settings = {"name": method, RATIO: float(ratio)}
        return (
            {clip.file: path, inputs.question: example.question}
            | clip.shelved(path, picture, values[clip.own])
            | clip.ready_again(user)
            | clip.cleared()
            | clip.returning(path, values)
            | clip.suited(values, example)
            | given_settings(self.controls, settings, stood)
            | {outputs.ready: ready(example), outputs.tabs: gr.update(selected=TokensTab.title)}
        )
