"""Another model: what it takes, then its download and loading, while the one in use answers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import gradio as gr

from gleanvid.errors import UnreachableError
from gleanvid.models.loading.precision import AUTO, PRECISIONS, parted, precision_of

from ..server.hosts import neighbourhood
from ..session.choice.choosing import LOOKING, Choosing
from ..session.choice.offers import Offer
from ..session.choice.progress import Progress
from ..session.display import explain, menu_name, message
from . import notice
from .shared import (
    AT_ONCE,
    IN_LINE,
    UNSEEN,
    Changes,
    Previews,
    Shared,
    Values,
    owner,
)

WORDS = {  # for the precisions
    AUTO: "Automatic",
    "bf16": "bfloat16",
    "fp16": "float16",
    "fp32": "float32",
    "8bit": "8-bit",
    "4bit": "4-bit",
}
OWN = "Or type the id of a model on the hub, or a local folder."
STAYS = """(name) => window.gvLink("model", name, null)"""
OFFERED = "What this server offers."
BAR_HTML = """<div class="gv-loading" hidden>
<progress max="1" aria-label="Loading a model"></progress><p role="status"></p></div>"""
BAR_JS = """
const box = element.querySelector(".gv-loading"), [bar, line] = box.children;
const show = () => {
  const { text = "", done = 0, total = 0, over = true, failed = false } = props.value || {};
  box.hidden = !text;
  bar.hidden = over;
  if (total) bar.value = done / total; else bar.removeAttribute("value");
  line.textContent = text;
  line.dataset.kind = failed ? "problem" : "quiet";
};
watch("value", show);
show();
"""


class Picker(NamedTuple):
    open: gr.Button
    fold: gr.Column
    name: gr.Dropdown
    precision: gr.Dropdown
    load: gr.Button
    cancel: gr.Button
    close: gr.Button
    outlook: gr.HTML
    bar: gr.HTML
    arrived: gr.State  # when a model last came into the menu: tokens on show are of the one before


def button() -> gr.Button:
    """Opens the fold."""
    return gr.Button("Load a real model", size="sm", min_width=56, elem_id="gv-load-open")


def panel(opener: gr.Button, choosing: Choosing) -> Picker:
    """``opener``: the widget of :func:`button`."""
    free = not choosing.strict
    with gr.Column(visible=False, elem_id="gv-load") as fold:
        with gr.Row(elem_classes="gv-load-row"):
            name = gr.Dropdown(
                [],
                label="Checkpoint",
                info=OWN if free else OFFERED,
                allow_custom_value=True,  # its rows come later; every name is checked
                filterable=free,
                interactive=True,
                scale=4,
                min_width=240,
            )
            precision = gr.Dropdown(
                [(WORDS.get(key, key), key) for key in PRECISIONS],
                value=AUTO,
                label="Precision",
                info="bfloat16 on a GPU, else float32",
                interactive=True,
                scale=1,
                min_width=140,
            )
        outlook = notice.text("gv-outlook")
        with gr.Row(elem_classes="gv-load-row"):
            load = gr.Button("Load", variant="primary", size="sm", scale=0, min_width=90)
            cancel = gr.Button("Cancel", size="sm", scale=0, min_width=90, interactive=False)
            close = gr.Button("Close", size="sm", scale=0, min_width=90)
        bar: Any = gr.HTML(None, apply_default_css=False, html_template=BAR_HTML, js_on_load=BAR_JS)
    return Picker(opener, fold, name, precision, load, cancel, close, outlook, bar, gr.State())


def wire(
    choosing: Choosing, shared: Shared, panel: Picker, preview: Previews, blocks: gr.Blocks
) -> None:
    act, menu = Acts(choosing, shared, panel), shared.settings["model"]
    frames = shared.settings["frames"]
    looked = {panel.name, panel.precision, frames}
    outputs = [panel.bar, panel.load, panel.cancel, panel.arrived, menu, shared.notice]
    opened = panel.open.click(act.on_open, frames, [panel.fold, panel.name], **AT_ONCE)
    opened.success(act.on_join, None, outputs, **IN_LINE)
    for event in (opened.success, panel.name.input, panel.precision.input):
        event(
            act.on_look, looked, [panel.outlook, panel.load], trigger_mode="always_last", **IN_LINE
        )
    panel.load.click(act.on_load, looked, outputs, **IN_LINE)
    if choosing.first:
        fold = [panel.fold, panel.name, panel.precision]
        blocks.load(act.on_first, None, [*fold, *outputs], **IN_LINE)
        # One chosen by hand stays in the address: without a word there, it is that of the start.
        menu.input(None, menu, None, js=STAYS, **UNSEEN)
    preview(panel.arrived.change, live=False)
    panel.cancel.click(act.on_cancel, None, None, **AT_ONCE)
    panel.close.click(lambda: gr.update(visible=False), None, panel.fold, **AT_ONCE)


class Acts(NamedTuple):
    """What happens on the events of the panel."""

    choosing: Choosing
    shared: Shared
    panel: Picker

    def on_open(self, count: int) -> Changes:
        rows = sorted(self.choosing.offers(frames=int(count)), key=rank)
        choices = [(row.label, row.name) for row in rows]
        named = gr.update(choices=choices, value=rows[0].name if rows else None)
        return {self.panel.fold: gr.update(visible=True), self.panel.name: named}

    def on_look(self, user: gr.Request, values: Values) -> Iterator[Changes]:
        """Nothing can be loaded where the hub cannot be asked for it: the sentence says what to do.

        Other refusals may end elsewhere, so pressing the button tries again.
        """
        panel, closed, off = self.panel, False, gr.update(interactive=False)
        if not (name := str(values[panel.name] or "").strip()):
            yield {panel.outlook: "", panel.load: off}
            return
        yield {panel.outlook: LOOKING.format(name=name), panel.load: off}
        try:
            text = self.choosing.look(name, *self._how(values), visitor=address(user)).text
        except Exception as error:
            text, closed = explain(error), isinstance(error, UnreachableError)
        able = self.choosing.now.over and not closed
        yield {panel.outlook: text, panel.load: gr.update(interactive=able)}

    def on_load(self, user: gr.Request, values: Values) -> Iterator[Changes]:
        name = str(values[self.panel.name] or "").strip()
        try:
            how = self._how(values)
            self.choosing.begin(name, *how, page=owner(user), visitor=address(user))
        except Exception as error:
            yield {self.panel.bar: {"text": explain(error), "failed": True}}
            return
        yield from watched(*self)

    def _how(self, values: Values) -> tuple[str, int]:
        return values[self.panel.precision], int(values[self.shared.settings["frames"]])

    def on_join(self, user: gr.Request) -> Iterator[Changes]:
        """What goes on, whoever began it; how a choice of others ended is theirs."""
        if self.choosing.is_of(owner(user)):
            yield from watched(*self)
        else:
            yield {self.panel.bar: shown(Progress())}

    def on_first(self, user: gr.Request) -> Iterator[Changes]:
        yield from started(*self, user)

    def on_cancel(self, user: gr.Request) -> None:
        self.choosing.cancel(owner(user) if self.choosing.strict else None)


def watched(choosing: Choosing, shared: Shared, panel: Picker) -> Iterator[Changes]:
    """How far the choice is, until it is over; then the model, if there is one, in the menu."""
    menu, now, able = shared.settings["model"], Progress(), {}
    for now in choosing.progress():
        going = {panel.load: now.over, panel.cancel: not now.over}
        able = {widget: gr.update(interactive=on) for widget, on in going.items()}
        yield {panel.bar: shown(now)} | able
    if now.stage == "ready":
        done = {menu: chosen(menu, now.name), shared.notice: message(now.text)}
        yield {panel.bar: shown(now), panel.arrived: time.monotonic()} | able | done


def started(
    choosing: Choosing, shared: Shared, panel: Picker, user: gr.Request
) -> Iterator[Changes]:
    """The model that the server was started with: there, or on its way.

    Where it was there already, what the page opened with says itself what it is of.
    """
    name, menu = choosing.first, shared.settings["model"]
    if choosing.engine.knows(name):
        own = user.query_params.get("model", name) == name
        yield {menu: chosen(menu, name)} if own else gr.skip()
        return
    if not choosing.is_of(owner(user)):
        yield gr.skip()  # Gradio empties the outputs of a generator that yields nothing
        return
    plain, precision = parted(name)[0], precision_of(name)
    row = {panel.name: gr.update(choices=[plain], value=plain), panel.precision: precision}
    yield row | {panel.fold: gr.update(visible=True)}
    if choosing.strict:  # of strangers each would keep a thread as long as it takes
        yield {panel.bar: shown(choosing.now)}
    else:
        yield from watched(choosing, shared, panel)


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
