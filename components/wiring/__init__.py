"""What happens on every event, a file a panel, in the order in which a person meets them."""

from __future__ import annotations

from collections.abc import Sequence

import gradio as gr

from components.clip import Example
from components.engine import Engine
from components.page import Page
from components.wiring import clip, compare, curves, export, link, question, settings

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
