"""Settings go into the address as they change, and come back from it on loading.

So do the results of a tab that is loaded again: its browser keeps their ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from components.panels import controls, link, status
from components.panels.clip import Example, example_of, ready
from components.panels.page import Page
from components.panels.talk import message
from components.panels.wiring.clip import CLEARED
from components.panels.wiring.events import AT_ONCE, UNSEEN
from components.session import restore
from components.session.engine import Engine
from gleanvid.compressors import COMPRESSORS


def wire(
    engine: Engine, page: Page, examples: Sequence[Example], tabs: gr.Tabs, blocks: gr.Blocks
) -> None:
    named = {"clip": page.clip.video} | page.settings.named() | {"question": page.talk.question}
    named |= {"methods": page.compare.methods, "ratios": page.compare.ratios}
    for name, widget in named.items():  # each by itself: the values of all take the page long
        widget.change(None, widget, None, js=link.writer(name, widget, examples), **UNSEEN)
    tabs.select(None, None, None, js=link.TAB, **UNSEEN)
    plots = list(page.curves.plots.values())
    titles = [str(tab.id) for tab in tabs.children if isinstance(tab, gr.Tab)]

    def on_load(user: gr.Request, kept: str | None) -> list[Any]:
        query = dict(user.query_params)
        values, told = said(page, query, named, examples)
        back = restore.restored(engine, kept, examples)
        results, drawn = [gr.skip()] * len(CLEARED), [gr.skip()] * len(plots)
        linked = values[0] if isinstance(values[0], str) else None
        if back is not None:
            told = message(back.text)
        if back is not None and back.runs is not None:
            values[0] = linked = back.path
            results = [back.turns, back.turns, back.viewer, back.runs]
        elif linked and linked != str(examples[0].path):  # the opening result is of another clip
            results, drawn = [*CLEARED], [gr.update(value=None, visible=False)] * len(plots)
        chips = gr.skip() if results[1] == gr.skip() else ready(example_of(examples, linked))
        tab = query.get("tab", "")
        opened = [gr.update(selected=tab), tab] if tab in titles else [gr.skip(), gr.skip()]
        run = engine.runs.get(back.runs[0]) if back is not None and back.runs else None
        return [told, *values, *results, chips, *drawn, *opened, status.pairs(engine, run)]

    talk = page.talk
    afresh = [talk.answers, page.turns, page.viewer, page.runs, page.clip.ready]
    widgets = [*named.values(), *page.settings.controls.groups.values()]
    kept = gr.Textbox(visible=False)
    outputs = [talk.notice, *widgets, *afresh, *plots, tabs, page.tab, page.status]
    blocks.load(on_load, kept, outputs, js=link.KEPT, **AT_ONCE)


def said(
    page: Page, query: dict[str, str], named: dict[str, Any], examples: Sequence[Example]
) -> tuple[list[Any], Any]:
    """Values of all ``named`` widgets and of the compressors' groups, and a word for the person."""
    own = page.settings.controls
    found = link.restored(query, named, examples)
    groups = [gr.skip()] * len(own.groups)
    method = query.get("compressor", "")
    if method in COMPRESSORS:
        free, *groups = controls.show(COMPRESSORS, method)
        ratio = list(named).index("retention_ratio")
        value = found[ratio]
        found[ratio] = free if isinstance(value, dict) else free | {"value": value}
    told = message(link.LOADED) if query.keys() & named.keys() else gr.skip()
    return [*found, *groups], told
