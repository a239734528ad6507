"""The button that loads a Video LLM in place, where the chosen model answers no questions."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from typing import Any

import gradio as gr

from gleanvid.errors import BusyError

from ..jobs.display import message
from ..jobs.examples import models_for
from ..jobs.local import BUILT_IN
from ..jobs.methods import can_answer
from ..widgets.events import AT_ONCE, QUEUED, Changes, Values, part
from ..widgets.panel import Page, Panel
from .choosing import Choosing
from .offers import gpu, to_ask
from .picker import BAR, bar_value

LABEL = "Load a Video LLM to ask"
CANCEL = "Cancel loading"
READY = "{name} is ready: type a question."
GPU_TOOLS = ("nvidia-smi", "rocm-smi")  # commands of the drivers; found without importing torch
ON_GPU = "gv-on-gpu"


class OfferPanel(Panel):
    """Loads the recommended model and then asks the question.

    ``style.css`` shows the panel for a model without answers and, on a machine with a GPU, beside
    the built-in model.

    Attributes:
        asks: time of the last load with a question in the box; its change asks the question.
    """

    def __init__(self, choosing: Choosing) -> None:
        self.choosing = choosing
        with gr.Row(elem_id="gv-offer") as self.row:
            self.button = gr.Button(LABEL, variant="primary", size="sm", min_width=56)
            self.bar = part("loading", BAR)
        self.asks, self.loaded_at = gr.State(), gr.State()

    def connect(self, page: Page) -> None:
        self.page, self.model = page, page.inputs.settings["model"]
        self.frames = page.inputs.settings["frames"]
        known = {self.model, self.frames}
        self.has_gpu = any(map(shutil.which, GPU_TOOLS))
        shown = [self.button, self.row]
        self.model.change(self.on_model, known, shown, **AT_ONCE)
        if self.has_gpu:
            page.blocks.load(self.on_model, known, shown, **AT_ONCE)
        inputs = known | {page.inputs.question, page.inputs.settings["clip"]}
        changed = [self.button, self.bar, self.model, self.asks, self.loaded_at]
        changed.append(page.outputs.notice)
        how: Any = {"trigger_mode": "multiple", **QUEUED}  # the second press cancels
        self.button.click(self.on_press, inputs, changed, **how)
        page.preview.after(self.loaded_at.change, live=False)

    def label(self, values: Values) -> tuple[str, str]:
        loaded = [name for _, name in self.choosing.choices]
        return to_ask(loaded, int(values[self.frames]), self.choosing.device)

    def on_model(self, values: Values) -> Changes:
        name = values[self.model]
        if can_answer(name) and not self.has_gpu:
            return gr.skip()
        is_beside = self.has_gpu and name == BUILT_IN and gpu(self.choosing.device)[0]
        row = gr.update(elem_classes=[ON_GPU] if is_beside else [])
        return {self.button: self.label(values)[0], self.row: row}

    def on_press(self, values: Values) -> Iterator[Changes]:
        """Load the model and show the progress; while a model is being loaded, cancel it."""
        label, name = self.label(values)
        try:
            self.choosing.begin(name, int(values[self.frames]))
        except BusyError:
            self.choosing.cancel()
            yield gr.skip()
            return
        for now in self.choosing.progress():
            changes = {self.button: label if now.over else CANCEL, self.bar: bar_value(now)}
            if now.stage == "ready":
                changes |= self.ready(name, values)
            yield changes

    def ready(self, name: str, values: Values) -> Changes:
        """Choose the loaded model; ask the question if there is one, else show the tokens."""
        inputs = self.page.inputs
        example = inputs.example(values[inputs.settings["clip"]])
        choices = models_for(example, self.choosing.choices)
        chosen = {self.model: gr.update(choices=choices, value=name), self.bar: {}}
        if str(values[inputs.question] or "").strip():
            return chosen | {self.asks: time.monotonic()}
        notice = message(READY.format(name=name))
        return chosen | {self.loaded_at: time.monotonic(), self.page.outputs.notice: notice}
