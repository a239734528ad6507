"""Settings go into the address as they change, and come back from it on loading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from components import controls, link
from components.clip import Example
from components.page import Page
from components.talk import message
from components.wiring.looking import AT_ONCE
from gleanvid.compressors import COMPRESSORS

UNSEEN: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}


def wire(page: Page, examples: Sequence[Example], blocks: gr.Blocks) -> None:
    named = {"clip": page.clip.video} | page.settings.named() | {"question": page.talk.question}
    widgets, own = list(named.values()), page.settings.controls
    for name, widget in named.items():  # each by itself: the values of all take the page long
        widget.change(None, widget, None, js=link.writer(name, widget, examples), **UNSEEN)
    ratio = list(named).index("retention_ratio")

    def on_load(user: gr.Request) -> list[Any]:
        query = dict(user.query_params)
        found = link.restored(query, named, examples)
        groups = [gr.skip()] * len(own.groups)
        method = query.get("compressor", "")
        if method in COMPRESSORS:
            free, *groups = controls.show(COMPRESSORS, method)
            value = found[ratio]
            found[ratio] = free if isinstance(value, dict) else free | {"value": value}
        told = message(link.LOADED) if query.keys() & named.keys() else gr.skip()
        return [told, *found, *groups]

    outputs = [page.talk.notice, *widgets, *own.groups.values()]
    blocks.load(on_load, None, outputs, **AT_ONCE)
