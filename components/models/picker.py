"""Load another model: choose or type a name, then download and load it in the background."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import gradio as gr

from ..jobs.display import explain, message
from ..widgets.events import AT_ONCE, PRIVATE, QUEUED, Changes, Values, part, script
from ..widgets.panel import Page, Panel
from .choosing import Choosing, Progress
from .offers import recommended

HUB_ADDRESS = "https://huggingface.co/"
CHECK = "To test a model on this machine: gleanvid check --model ID."
EXAMPLES = "OWNER/NAME, OWNER/NAME@4bit, vllm:http://host:port"
BAR = """<div class="gv-loading" hidden>
<progress max="1" aria-label="Loading a model"></progress><p role="status"></p></div>"""


def bar_value(now: Progress) -> dict[str, Any]:
    """Return the content of a progress bar made with ``BAR``."""
    bar = {"text": now.text, "done": now.done, "total": now.total, "over": now.over}
    return bar | {"failed": now.stage == "failed"}


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
                # Gradio checks the value against the choices, which ``on_open`` sets only later.
                more: dict[str, Any] = {"allow_custom_value": True, "interactive": True}
                self.known = gr.Dropdown(
                    [], label="Known checkpoints", info=CHECK, scale=3, min_width=240, **more
                )
                self.name = gr.Textbox(
                    label="Id on the hub, folder or server",
                    info=EXAMPLES,
                    max_lines=1,
                    scale=2,
                    min_width=240,
                )
            with gr.Row(elem_classes="gv-load-row"):
                small: dict[str, Any] = {"size": "sm", "scale": 0, "min_width": 90}
                self.load = gr.Button("Load", variant="primary", **small)
                self.cancel = gr.Button("Cancel", interactive=False, **small)
                self.close = gr.Button("Close", elem_id="gv-load-close", **small)
            self.bar = part("loading", BAR)
        self.loaded_at = gr.State()  # time of the last load; its change starts a preview

    def connect(self, page: Page) -> None:
        self.notice, self.frames = page.outputs.notice, page.inputs.settings["frames"]
        outputs = [self.bar, self.load, self.cancel, self.loaded_at, self.menu, self.notice]
        shown = [self.fold, self.known, self.name]
        opened = self.opener.click(self.on_open, {self.name, self.frames}, shown, **AT_ONCE)
        opened.success(self.on_watch, None, outputs, **QUEUED)
        self.known.input(lambda name: name, self.known, self.name, **AT_ONCE)
        for event in (self.load.click, self.name.submit):
            event(self.on_load, {self.name, self.frames}, outputs, **QUEUED)
        if self.choosing.first:
            page.blocks.load(self.on_first, None, [self.fold, self.name, *outputs], **QUEUED)
            # Write the chosen model to the page's URL; otherwise a reload chooses the first model.
            stay = script("writeSetting", "model", None)
            self.menu.input(None, self.menu, None, js=stay, **PRIVATE)
        page.preview.after(self.loaded_at.change, live=False)
        self.cancel.click(self.choosing.cancel, None, None, **AT_ONCE)
        self.close.click(lambda: gr.update(visible=False), None, self.fold, **AT_ONCE)

    def on_open(self, values: Values) -> Changes:
        """Show the panel: this machine, its checkpoints, and the recommended one to load."""
        choices = self.choosing.offers(int(values[self.frames]))
        name, found = recommended(self.choosing.device)
        return {
            self.fold: gr.update(visible=True),
            self.known: gr.update(choices=choices, info=f"{found}. {CHECK}"),
            self.name: values[self.name] or name,
        }

    def on_load(self, values: Values) -> Iterator[Changes]:
        # The address of a model's page on the hub is as good as its id.
        name = str(values[self.name] or "").strip().removeprefix(HUB_ADDRESS).rstrip("/")
        try:
            if not name:
                raise ValueError("Choose a checkpoint, or type a name.")
            self.choosing.begin(name, int(values[self.frames]))
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
            yield {self.name: name, self.fold: gr.update(visible=True)}
            yield from self._watch()

    def _watch(self) -> Iterator[Changes]:
        """Show the progress until loading has ended; then choose the model in the menu."""
        for now in self.choosing.progress():
            changes: Changes = {
                self.bar: bar_value(now),
                self.load: gr.update(interactive=now.over),
                self.cancel: gr.update(interactive=not now.over),
            }
            if now.stage == "ready":
                changes |= {self.loaded_at: time.monotonic(), self.notice: message(now.text)}
                changes |= self._choose(now.name)
            yield changes

    def _choose(self, name: str) -> Changes:
        return {self.menu: gr.update(choices=self.choosing.choices, value=name)}
