"""Restrict every menu of methods to those that the chosen model can run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import gradio as gr

from gleanvid.compressors import COMPRESSORS

from ..jobs.methods import lacking
from ..widgets.events import AT_ONCE, Changes, Values
from ..widgets.panel import Page, Panel

SOME = (
    "{count} of {all} compressors are left out: they need attention or a language model. The tab "
    "Compare names them."
)


def served_method(model: str, method: str) -> str:
    """Return ``method`` if the model can run it, else the first method that it can run."""
    return method if method not in not_served(model) else next(iter(_offered(model)))


class ServedPanel(Panel):
    """Updates the menus of methods when another model is chosen.

    ``compared``: the checkboxes of methods on the tab Compare.
    """

    def __init__(self, method: gr.Dropdown, compared: gr.CheckboxGroup) -> None:
        self.method, self.compared = method, compared

    def connect(self, page: Page) -> None:
        self.model, self.viewer = page.inputs.settings["model"], page.outputs.viewer
        stood = {self.model, self.method}
        menus = [self.method, self.compared, self.viewer]
        self.model.change(self.on_change, stood, menus, **AT_ONCE)
        # The new preview does not wait for a running encoding, which may take minutes, but ends it.
        chosen = self.model.input(self.on_input, {self.model, self.method}, self.method, **AT_ONCE)
        page.preview.after(chosen.then)

    def on_change(self, values: Values) -> Changes:
        """Offer only methods that the model can run. The visitor's ticks in Compare stay.

        Compare leaves out ticked methods that the model cannot run, and names them. A sentence
        under the menu counts them. It is "" for none: Gradio 6 would keep the old text for None.
        """
        model, method = values[self.model], values[self.method]
        offered, count = _offered(model), len(not_served(model))
        titles = [(title, name) for name, title in offered.items()]
        some = SOME.format(count=count, all=len(COMPRESSORS)) if count else ""
        return {
            self.method: gr.update(choices=titles, info=some, value=served_method(model, method)),
            self.compared: gr.update(info=not_served_sentence(model)),
            self.viewer: gr.update(choices=list(offered.items())),
        }

    def on_input(self, values: Values) -> Changes:
        method = served_method(values[self.model], values[self.method])
        return gr.skip() if method == values[self.method] else {self.method: method}


@cache
def not_served(model: str) -> dict[str, str]:
    """Return name -> what the model lacks, for each compressor that it cannot run."""
    reasons = {name: lacking(model, method()) for name, method in COMPRESSORS.items()}
    return {name: why for name, why in reasons.items() if why}


def not_served_sentence(model: str) -> str:
    """Return a sentence on the compressors that the menu leaves out, and why; empty if none."""
    groups: dict[str, list[str]] = {}
    for name, why in not_served(model).items():
        groups.setdefault(why, []).append(COMPRESSORS[name].title)
    listed = "; ".join(f"{', '.join(titles)} ({why})" for why, titles in groups.items())
    return f"Left out with the model “Photo encoder”: {listed}." if listed else ""


def _offered(model: str) -> Mapping[str, Any]:
    """Return name -> title of the methods that the model can run; GleanVID is first."""
    names = sorted(COMPRESSORS, key=lambda name: name != "gleanvid")
    return {name: COMPRESSORS[name].title for name in names if name not in not_served(model)}
