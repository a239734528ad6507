"""Checkboxes: ask again after changes, ask with all tokens, remember the conversation."""

from __future__ import annotations

from typing import Any

import gradio as gr

from ..session.answers import caveat
from ..session.examples import Example
from ..session.work.local import BUILT_IN
from .events import AT_ONCE, Changes, Values, part
from .panel import Page, Panel

UNKNOWN_CLIP = (
    "Off for this clip: the built-in model is made for Glimpse clips. Press Ask to ask anyway."
)
LOG = """<div class="gv-log" role="log" aria-label="Conversation" tabindex="0"></div>"""


def live_switch() -> gr.Checkbox:
    return gr.Checkbox(
        True, label="Ask again on each change", interactive=True, elem_id="gv-live-switch"
    )


class HabitsPanel(Panel):
    """Checkboxes that set how questions are asked. ``live`` is made by :func:`live_switch`."""

    def __init__(self, live: gr.Checkbox, model: str) -> None:
        self.live = live
        self.both = gr.Checkbox(True, label="Also answer with all tokens", interactive=True)
        able = model != BUILT_IN  # the built-in model cannot hold a conversation
        self.remember = gr.Checkbox(
            False, label="Remember this conversation", interactive=True, visible=able
        )
        self.forget = gr.Button("New conversation", size="sm", visible=False)
        self.log = part("log", LOG, [], visible=False)

    def connect(self, page: Page) -> None:
        self.page = page
        exchanges, ready = page.outputs.exchanges, page.outputs.ready
        memory = [self.forget, self.log, exchanges]
        self.remember.input(self.on_remember, self.remember, memory, **AT_ONCE)
        self.forget.click(lambda: ([], []), None, [self.log, exchanges], **AT_ONCE)
        exchanges.change(lambda said: said, exchanges, self.log, **AT_ONCE)
        self.model, self.clip = page.inputs.settings["model"], page.inputs.settings["clip"]
        known = {self.model, self.clip}
        changed = [self.live, self.remember, *memory]
        self.model.change(self.on_model, known, changed, **AT_ONCE)
        # ``ready`` holds the suggested questions, which change when another clip is chosen.
        ready.change(self.on_clip, known, self.live, **AT_ONCE)

    def on_remember(self, on: bool) -> Changes:
        return {
            self.forget: gr.update(visible=on),
            self.log: gr.update(value=[], visible=on),
            self.page.outputs.exchanges: [],
        }

    def on_clip(self, values: Values) -> Changes:
        example = self.page.inputs.examples.get(values[self.clip])
        return {self.live: switch_state(example, values[self.model])}

    def on_model(self, values: Values) -> Changes:
        able = values[self.model] != BUILT_IN
        remember = {self.remember: gr.update(visible=able, value=False)}
        return remember | self.on_remember(False) | self.on_clip(values)


def switch_state(example: Example | None, model: str) -> dict[str, Any]:
    """Disable "Ask again on each change" if the model's answers on this clip mean nothing.

    The reason is shown below the checkbox, which keeps its value; ``style.css`` hides the tick.
    """
    is_disabled = bool(caveat(example, model))
    return gr.update(interactive=not is_disabled, info=UNKNOWN_CLIP if is_disabled else "")
