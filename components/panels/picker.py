"""Load another model: show its size and memory, then download and load it in the background."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import gradio as gr

from gleanvid.errors import UnreachableError
from gleanvid.models.loading.precision import AUTO, PRECISIONS, split_precision

from ..session.choice.choosing import LOOKING, Choosing, Progress
from ..session.choice.offers import Offer
from ..session.display import explain, message
from . import notice
from .events import AT_ONCE, PRIVATE, QUEUED, Changes, Values, part, script
from .panel import Page, Panel

PRECISION_LABELS = {
    AUTO: "Automatic",
    "bf16": "bfloat16",
    "fp16": "float16",
    "fp32": "float32",
    "8bit": "8-bit",
    "4bit": "4-bit",
}
HUB_ADDRESS = "https://huggingface.co/"
OWN = (
    "Or type the id of a model on the hub, a local folder, or vllm:http://host:port. To test a "
    "model on this machine: gleanvid check --model ID."
)
BAR = """<div class="gv-loading" hidden>
<progress max="1" aria-label="Loading a model"></progress><p role="status"></p></div>"""


def button() -> gr.Button:
    """Make the button that opens the panel; the button stands next to the menu of models."""
    return gr.Button("Load a model", size="sm", min_width=56, elem_id="gv-load-open")


class ModelPicker(Panel):
    """The panel in which a visitor of a private server loads another model."""

    def __init__(self, choosing: Choosing, opener: gr.Button, menu: gr.Dropdown) -> None:
        """Make the closed panel.

        ``opener``: the widget of :func:`button`. ``menu``: the menu of models that can be used.
        """
        self.choosing, self.opener, self.menu = choosing, opener, menu
        # Gradio accepts only choices in ``menu.choices``. Loaded models are appended to this list.
        choices: list[Any] = list(menu.choices)
        choosing.choices = menu.choices = choices
        with gr.Column(visible=False, elem_id="gv-load") as self.fold:
            with gr.Row(elem_classes="gv-load-row"):
                self.name = gr.Dropdown(
                    [],
                    label="Checkpoint",
                    info=OWN,
                    # Visitors may type a name, and ``on_open`` sets the choices only later.
                    allow_custom_value=True,
                    interactive=True,
                    scale=4,
                    min_width=240,
                )
                self.precision = gr.Dropdown(
                    [(PRECISION_LABELS[name], name) for name in PRECISIONS],
                    value=AUTO,
                    label="Precision",
                    info="Automatic: bfloat16 on a GPU, else float32",
                    interactive=True,
                    scale=1,
                    min_width=140,
                )
            self.outlook = notice.plain("gv-outlook")
            with gr.Row(elem_classes="gv-load-row"):
                self.load = gr.Button("Load", variant="primary", size="sm", scale=0, min_width=90)
                self.cancel = gr.Button(
                    "Cancel", size="sm", scale=0, min_width=90, interactive=False
                )
                self.close = gr.Button(
                    "Close", size="sm", scale=0, min_width=90, elem_id="gv-load-close"
                )
            self.bar = part("loading", BAR)
        self.loaded_at = gr.State()  # time of the last load; its change starts a preview

    def connect(self, page: Page) -> None:
        self.notice, self.frames = page.outputs.notice, page.inputs.settings["frames"]
        inputs = {self.name, self.precision, self.frames}
        outputs = [self.bar, self.load, self.cancel, self.loaded_at, self.menu, self.notice]
        opened = self.opener.click(self.on_open, self.frames, [self.fold, self.name], **AT_ONCE)
        opened.success(self.on_watch, None, outputs, **QUEUED)
        for event in (opened.success, self.name.input, self.precision.input):
            latest: dict[str, Any] = {"trigger_mode": "always_last", **QUEUED}
            event(self.on_look, inputs, [self.outlook, self.load, self.bar], **latest)
        self.load.click(self.on_load, inputs, outputs, **QUEUED)
        if self.choosing.first:
            fold = [self.fold, self.name, self.precision]
            page.blocks.load(self.on_first, None, [*fold, *outputs], **QUEUED)
            # Write the chosen model to the page's URL; otherwise a reload chooses the first model.
            stay = script("writeSetting", "model", None)
            self.menu.input(None, self.menu, None, js=stay, **PRIVATE)
        page.preview.after(self.loaded_at.change, live=False)
        self.cancel.click(self.on_cancel, None, None, **AT_ONCE)
        self.close.click(self.on_close, None, self.fold, **AT_ONCE)

    def on_open(self, count: int) -> Changes:
        """Show the panel with the checkpoints that can be loaded."""
        rows = sorted(self.choosing.offers(frames=int(count)), key=rank)
        choices = [(row.label, row.name) for row in rows]
        named = gr.update(choices=choices, value=rows[0].name if rows else None)
        return {self.fold: gr.update(visible=True), self.name: named}

    def on_close(self) -> Changes:
        return {self.fold: gr.update(visible=False)}

    def on_look(self, values: Values) -> Iterator[Changes]:
        """Show download size, memory and licence of the chosen model.

        The load button is disabled if the hub cannot be reached. Other problems, such as a
        gated model, do not disable it: they may be solved by the time somebody presses it.
        """
        can_load, off = True, gr.update(interactive=False)
        if not (name := self._named(values)):
            yield {self.outlook: "", self.load: off}
            return
        # Clear the message about the previous load.
        failed: Changes = {self.bar: {}} if self.choosing.now.over else {}
        yield {self.outlook: LOOKING.format(name=name), self.load: off} | failed
        try:
            text = self.choosing.look(name, *self._options(values)).text
        except Exception as error:
            text, can_load = explain(error), not isinstance(error, UnreachableError)
        can_load = can_load and self.choosing.now.over
        yield {self.outlook: text, self.load: gr.update(interactive=can_load)}

    def on_load(self, values: Values) -> Iterator[Changes]:
        try:
            self.choosing.begin(self._named(values), *self._options(values))
        except Exception as error:
            yield {self.bar: {"text": explain(error), "failed": True}}
            return
        yield from self._watch()

    def on_watch(self) -> Iterator[Changes]:
        """Show the progress if a model is being loaded, even if another page started the load."""
        if self.choosing.now.over:
            yield gr.skip()  # Gradio empties the outputs of a generator that yields nothing
        else:
            yield from self._watch()

    def on_first(self, user: gr.Request) -> Iterator[Changes]:
        """Choose the model that the server was started with, or show the progress of loading it.

        A link that names another model takes precedence.
        """
        name, now = self.choosing.first, self.choosing.now
        if self.choosing.engine.knows(name):
            is_chosen = user.query_params.get("model", name) == name
            yield self._choose(name) if is_chosen else gr.skip()
        elif now.over and now.name != name:
            yield gr.skip()
        else:
            plain, precision = split_precision(name)
            row = {self.name: gr.update(choices=[plain], value=plain), self.precision: precision}
            yield row | {self.fold: gr.update(visible=True)}
            yield from self._watch()

    def on_cancel(self) -> None:
        self.choosing.cancel()

    def _named(self, values: Values) -> str:
        """Return the chosen id or folder; a URL of a model on the hub is shortened to its id."""
        name = str(values[self.name] or "").strip()
        return name.removeprefix(HUB_ADDRESS).rstrip("/") if name.startswith(HUB_ADDRESS) else name

    def _options(self, values: Values) -> tuple[str, int]:
        return values[self.precision], int(values[self.frames])

    def _watch(self) -> Iterator[Changes]:
        """Show the progress until loading has ended; then choose the model in the menu."""
        now, buttons = self.choosing.now, {}
        for now in self.choosing.progress():
            enabled = {self.load: now.over, self.cancel: not now.over}
            buttons = {button: gr.update(interactive=on) for button, on in enabled.items()}
            yield {self.bar: bar_value(now)} | buttons
        if now.stage == "ready":
            loaded = {self.loaded_at: time.monotonic(), self.notice: message(now.text)}
            yield {self.bar: bar_value(now)} | buttons | loaded | self._choose(now.name)

    def _choose(self, name: str) -> Changes:
        return {self.menu: gr.update(choices=self.choosing.choices, value=name)}


def rank(row: Offer) -> tuple[bool, bool]:
    """Sort key: the recommended checkpoint comes first, those that are too large last."""
    return not row.first, row.fits is False


def bar_value(now: Progress) -> dict[str, Any]:
    return {
        "text": now.text,
        "done": now.done,
        "total": now.total,
        "over": now.over,
        "failed": now.stage == "failed",
    }
