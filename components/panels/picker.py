"""Another model: what it takes, then its download and loading, while the one in use answers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import gradio as gr

from gleanvid.errors import UnreachableError
from gleanvid.models.loading.precision import AUTO, PRECISIONS, parted, precision_of

from ..server.hosts import neighbourhood
from ..session.choice.choosing import LOOKING, Choosing
from ..session.choice.offers import Offer
from ..session.choice.progress import Progress
from ..session.display import menu_name, message
from ..session.updates import explain
from . import notice
from .events import AT_ONCE, PRIVATE, QUEUED, Changes, Values, owner, part, script
from .panel import Page, Panel

WORDS = {  # for the precisions
    AUTO: "Automatic",
    "bf16": "bfloat16",
    "fp16": "float16",
    "fp32": "float32",
    "8bit": "8-bit",
    "4bit": "4-bit",
}
OWN = "Or type the id of a model on the hub, or a local folder."
OFFERED = "What this server offers."
BAR = """<div class="gv-loading" hidden>
<progress max="1" aria-label="Loading a model"></progress><p role="status"></p></div>"""


def button() -> gr.Button:
    """Opens the panel."""
    return gr.Button("Load a real model", size="sm", min_width=56, elem_id="gv-load-open")


class PickerPanel(Panel):
    """``opener``: the widget of :func:`button`."""

    def __init__(self, opener: gr.Button, choosing: Choosing) -> None:
        self.opener, self.choosing = opener, choosing
        free = not choosing.strict
        with gr.Column(visible=False, elem_id="gv-load") as self.fold:
            with gr.Row(elem_classes="gv-load-row"):
                self.name = gr.Dropdown(
                    [],
                    label="Checkpoint",
                    info=OWN if free else OFFERED,
                    allow_custom_value=True,  # its rows come later; every name is checked
                    filterable=free,
                    interactive=True,
                    scale=4,
                    min_width=240,
                )
                self.precision = gr.Dropdown(
                    [(WORDS.get(key, key), key) for key in PRECISIONS],
                    value=AUTO,
                    label="Precision",
                    info="bfloat16 on a GPU, else float32",
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
                self.close = gr.Button("Close", size="sm", scale=0, min_width=90)
            self.bar = part("loading", BAR)
        self.arrived = gr.State()  # when a model last came into the menu

    def connect(self, page: Page) -> None:
        self.page = page
        self.menu, self.frames = page.inputs.settings["model"], page.inputs.settings["frames"]
        looked = {self.name, self.precision, self.frames}
        outputs = [self.bar, self.load, self.cancel, self.arrived, self.menu, page.outputs.notice]
        opened = self.opener.click(self.on_open, self.frames, [self.fold, self.name], **AT_ONCE)
        opened.success(self.on_join, None, outputs, **QUEUED)
        how: Any = {"trigger_mode": "always_last", **QUEUED}
        for event in (opened.success, self.name.input, self.precision.input):
            event(self.on_look, looked, [self.outlook, self.load], **how)
        self.load.click(self.on_load, looked, outputs, **QUEUED)
        if self.choosing.first:
            fold = [self.fold, self.name, self.precision]
            page.blocks.load(self.on_first, None, [*fold, *outputs], **QUEUED)
            # One chosen by hand stays in the address: without it, it is that of the start.
            stay = script("writeSetting", "model", None)
            self.menu.input(None, self.menu, None, js=stay, **PRIVATE)
        page.preview.after(self.arrived.change, live=False)
        self.cancel.click(self.on_cancel, None, None, **AT_ONCE)
        self.close.click(lambda: gr.update(visible=False), None, self.fold, **AT_ONCE)

    def on_open(self, count: int) -> Changes:
        rows = sorted(self.choosing.offers(frames=int(count)), key=rank)
        choices = [(row.label, row.name) for row in rows]
        named = gr.update(choices=choices, value=rows[0].name if rows else None)
        return {self.fold: gr.update(visible=True), self.name: named}

    def on_look(self, user: gr.Request, values: Values) -> Iterator[Changes]:
        """Nothing can be loaded where the hub cannot be asked for it: the sentence says what to do.

        Other refusals may end elsewhere, so pressing the button tries again.
        """
        closed, off = False, gr.update(interactive=False)
        if not (name := str(values[self.name] or "").strip()):
            yield {self.outlook: "", self.load: off}
            return
        yield {self.outlook: LOOKING.format(name=name), self.load: off}
        try:
            text = self.choosing.look(name, *self.options(values), visitor=address(user)).text
        except Exception as error:
            text, closed = explain(error), isinstance(error, UnreachableError)
        able = self.choosing.now.over and not closed
        yield {self.outlook: text, self.load: gr.update(interactive=able)}

    def on_load(self, user: gr.Request, values: Values) -> Iterator[Changes]:
        name = str(values[self.name] or "").strip()
        try:
            options = self.options(values)
            self.choosing.begin(name, *options, page=owner(user), visitor=address(user))
        except Exception as error:
            yield {self.bar: {"text": explain(error), "failed": True}}
            return
        yield from self.watched()

    def options(self, values: Values) -> tuple[str, int]:
        return values[self.precision], int(values[self.frames])

    def on_join(self, user: gr.Request) -> Iterator[Changes]:
        """What goes on, whoever began it; how a choice of others ended is theirs."""
        if self.choosing.is_of(owner(user)):
            yield from self.watched()
        else:
            yield {self.bar: shown(Progress())}

    def on_first(self, user: gr.Request) -> Iterator[Changes]:
        """The model that the server was started with: there, or on its way.

        Where it was there already, what the page opened with says itself what it is of.
        """
        choosing, name = self.choosing, self.choosing.first
        if choosing.engine.knows(name):
            own = user.query_params.get("model", name) == name
            yield {self.menu: chosen(self.menu, name)} if own else gr.skip()
            return
        if not choosing.is_of(owner(user)):
            yield gr.skip()  # Gradio empties the outputs of a generator that yields nothing
            return
        plain, precision = parted(name)[0], precision_of(name)
        row = {self.name: gr.update(choices=[plain], value=plain), self.precision: precision}
        yield row | {self.fold: gr.update(visible=True)}
        if choosing.strict:  # of strangers each would keep a thread as long as it takes
            yield {self.bar: shown(choosing.now)}
        else:
            yield from self.watched()

    def on_cancel(self, user: gr.Request) -> None:
        self.choosing.cancel(owner(user) if self.choosing.strict else None)

    def watched(self) -> Iterator[Changes]:
        """How far the choice is, until it is over; then the model, if there is one, in the menu."""
        now, able = Progress(), {}
        for now in self.choosing.progress():
            going = {self.load: now.over, self.cancel: not now.over}
            able = {widget: gr.update(interactive=on) for widget, on in going.items()}
            yield {self.bar: shown(now)} | able
        if now.stage == "ready":
            notice = {self.page.outputs.notice: message(now.text)}
            done = {self.menu: chosen(self.menu, now.name), self.arrived: time.monotonic()}
            yield {self.bar: shown(now)} | able | done | notice


def address(user: gr.Request) -> str:
    """Whom a choice counts for."""
    return neighbourhood(user.client.host if user.client else "")


def rank(row: Offer) -> tuple[bool, bool]:
    """The one to begin with comes first, what is too large last."""
    return not row.first, row.fits is False


def shown(now: Progress) -> dict[str, Any]:
    """What the bar shows of a choice."""
    return {
        "text": now.text,
        "done": now.done,
        "total": now.total,
        "over": now.over,
        "failed": now.stage == "failed",
    }


def chosen(menu: gr.Dropdown, name: str) -> Changes:
    """The menu with this model chosen; every page may ask for it from now on."""
    if name not in [value for _, value in menu.choices]:
        menu.choices.append((menu_name(name), name))
    return gr.update(choices=list(menu.choices), value=name)
