"""A changed setting shows its effect once the hand is off it; nothing is encoded again."""

from __future__ import annotations

import gradio as gr

from components.panels import controls
from components.panels.page import Page
from components.panels.settings import PRESETS
from components.panels.wiring.events import AT_ONCE
from components.panels.wiring.looking import looking
from components.session.engine import Engine
from gleanvid.compressors import COMPRESSORS

BUILT_IN = "builtin"


def wire(engine: Engine, page: Page) -> None:
    settings, own = page.settings, page.settings.controls
    settings.model.input(
        lambda name: gr.update(visible=name == BUILT_IN), settings.model, page.talk.note, **AT_ONCE
    )
    own.method.input(
        lambda name: controls.show(COMPRESSORS, name),
        own.method,
        [own.ratio, *own.groups.values()],
        **AT_ONCE,
    )
    look = looking(engine, page)
    for button, share in zip(own.presets, PRESETS, strict=True):
        button.click(lambda share=share: share, None, own.ratio, **AT_ONCE).then(**look)
    changes = [own.method.input, settings.model.input, settings.frames.release]
    changes.append(settings.pixels.input)
    for widget in [own.ratio, *own.fields.values()]:
        changes.append(widget.release if isinstance(widget, gr.Slider) else widget.change)
    gr.on(changes, **look, trigger_mode="multiple")  # the engine ends the look before
