"""What happens on every event, a file a panel, in the order in which a person meets them."""

from __future__ import annotations

from collections.abc import Sequence

import gradio as gr

from components.panels.clip import Example
from components.panels.page import Page
from components.panels.wiring import clip, compare, curves, export, link, question, settings
from components.session.engine import Engine

__all__ = ["wire"]


def wire(
    engine: Engine, page: Page, examples: Sequence[Example], tabs: gr.Tabs, blocks: gr.Blocks
) -> None:
    settings.wire(engine, page)
    clip.wire(engine, page, examples)
    question.wire(engine, page, examples)
    curves.wire(engine, page, tabs)
    compare.wire(engine, page)
    export.wire(engine, page)
    link.wire(engine, page, examples, tabs, blocks)
