"""Checkboxes: ask again after changes, and ask with all tokens, too."""

from __future__ import annotations

from typing import Any

import gradio as gr

from ..jobs.examples import Example
from ..tokens.answers import caveat
from ..widgets.events import AT_ONCE, Changes, Values
from ..widgets.panel import Page, Panel

UNKNOWN_CLIP = (
    "Off for this clip: the built-in model is made for Glimpse clips. Press Ask to ask anyway."
)


def live_switch() -> gr.Checkbox:
    return gr.Checkbox(
        True, label="Ask again on each change", interactive=True, elem_id="gv-live-switch"
    )


class HabitsPanel(Panel):
    """Checkboxes that set how questions are asked. ``live`` is made by :func:`live_switch`."""

    def __init__(self, live: gr.Checkbox) -> None:
        self.live = live
        self.both = gr.Checkbox(True, label="Also answer with all tokens", interactive=True)

    def connect(self, page: Page) -> None:
        self.page = page
        self.model, self.clip = page.inputs.settings["model"], page.inputs.settings["clip"]
        known = {self.model, self.clip}
        # ``ready`` holds the suggested questions, which change when another clip is chosen.
        for event in (self.model.change, page.outputs.ready.change):
            event(self.on_clip, known, self.live, **AT_ONCE)

    def on_clip(self, values: Values) -> Changes:
        example = self.page.inputs.examples.get(values[self.clip])
        return {self.live: switch_state(example, values[self.model])}


def switch_state(example: Example | None, model: str) -> dict[str, Any]:
    """Disable "Ask again on each change" if the model's answers on this clip mean nothing.

    The reason is shown below the checkbox, which keeps its value; ``style.css`` hides the tick.
    """
    is_disabled = bool(caveat(example, model))
    return gr.update(interactive=not is_disabled, info=UNKNOWN_CLIP if is_disabled else "")
