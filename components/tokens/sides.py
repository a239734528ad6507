"""The tab Tokens: the viewer, and choosing, swapping and pinning its two sides.

The viewer compares two runs, A and B. B always has the settings of the page. A has settings of its
own, or keeps all tokens.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from gleanvid.compressors import COMPRESSORS, METHODS

from ..jobs.methods import RATIO
from ..jobs.request import ALL_TOKENS
from ..viewer.component import MaskViewer
from ..viewer.payload import MAX_METHODS
from ..widgets.controls import Controls, given_settings
from ..widgets.events import AT_ONCE, Changes, Values
from ..widgets.panel import Page, Panel, Tab


class TokensTab(Tab):
    title = "Tokens"

    def __init__(self, viewer: Mapping[str, Any] | None, answers: Sequence[Any]) -> None:
        choices = [(name, method.title) for name, method in COMPRESSORS.items()]
        self.viewer = MaskViewer(viewer, answers=answers, choices=choices, elem_id="gv-tokens")


class SidesPanel(Panel):
    """Applies choices made in the viewer to the settings of the page."""

    def __init__(self, controls: Controls) -> None:
        self.controls = controls
        # Compressor settings of side A as JSON, part of a link; empty for all tokens.
        self.pinned = gr.Textbox(
            "", visible="hidden", show_label=False, container=False, elem_id="gv-a"
        )
        self.wanted = gr.State("")  # method chosen in the menu above side A

    def linked(self) -> dict[str, Any]:
        return {"a": self.pinned}

    def connect(self, page: Page) -> None:
        self.page = page
        viewer: Any = page.outputs.viewer
        self.runs, widgets = page.inputs.runs, self.controls.widgets
        inputs = {self.runs, *self.controls.parts}
        stood = [self.pinned, self.runs, page.inputs.question, *widgets]
        for event in (viewer.pair, viewer.swap, viewer.pin):
            page.preview.after(event(self.on_pair, inputs, stood, **AT_ONCE).success)
        named = viewer.method(self.on_method, None, [self.wanted, *widgets], **AT_ONCE)
        to_a = page.inputs.when(
            named.success, self.on_wanted, [self.pinned], [self.wanted], **AT_ONCE
        )
        page.preview.after(to_a.success)

    def follow(self, compared: Any) -> None:
        """After the event ``compared``, write the settings of the viewer's runs to the page."""
        inputs = {self.runs, *self.controls.parts}
        outputs = [self.pinned, *self.controls.widgets]
        stood = compared.then(self.on_compared, inputs, outputs, **AT_ONCE)
        self.page.inputs.gathered.on(stood.then)

    def settings_of(self, run_id: Any) -> Mapping[str, Any] | None:
        run = self.page.engine.runs.get(str(run_id)) if run_id else None
        known = run is not None and run.compressor.get("name") in METHODS
        return run.compressor if run is not None and known else None

    def put(
        self, a: Mapping[str, Any] | None, b: Mapping[str, Any] | None, values: Values
    ) -> Changes:
        """Return widget values with the settings of sides A and B; None changes nothing."""
        changes = {} if a is None else {self.pinned: as_pinned(a)}
        if b is None:
            return changes
        before = {key: value for part in self.controls.parts for key, value in values[part].items()}
        return changes | given_settings(self.controls, b, before)

    def on_pair(self, event: gr.EventData, values: Values) -> Changes:
        """Copy the settings of the chosen run A to side A, and those of run B to the page."""
        ids = [getattr(event, side, None) for side in ("a", "b")]
        a, b = map(self.settings_of, ids)
        changes = self.put(a, b, values)
        others = [run_id for run_id in values[self.runs] if run_id not in ids]
        if a is not None and b is not None:
            order = list(dict.fromkeys(str(run_id) for run_id in reversed(ids)))
            changes[self.runs] = [*order, *others][:MAX_METHODS]
        return changes | self.question_of(ids, values[self.runs][:2])

    def question_of(self, ids: Sequence[Any], before: Sequence[str]) -> Changes:
        """Fill the question box with the question of a run that was not shown as A or B before."""
        runs = [self.page.engine.runs.get(str(one)) for one in ids if one and one not in before]
        texts = [run.question for run in runs if run is not None and run.question]
        return {self.page.inputs.question: texts[-1]} if texts else {}

    def on_method(self, event: gr.EventData) -> Changes:
        name = str(getattr(event, "name", ""))
        if name not in COMPRESSORS:
            return gr.skip()
        if getattr(event, "side", "") == "b":
            return {self.controls.method: name, self.wanted: ""}
        return {self.wanted: name}

    def on_wanted(self, values: Values) -> Changes:
        """Set side A to another method, with the settings that the page has for this method."""
        if not values[self.wanted]:
            return gr.skip()
        inputs = self.page.inputs
        values = inputs.read(values)
        ratio = inputs.by_key(values)[RATIO]
        compressor = inputs.maker(values)(values[self.wanted], ratio)
        return {self.pinned: as_pinned(compressor.settings())}

    def on_compared(self, values: Values) -> Changes:
        b, a = map(self.settings_of, [*values[self.runs], None, None][:2])
        return self.put(a, b, values) or gr.skip()


def as_pinned(settings: Mapping[str, Any]) -> str:
    """Return compressor settings as the JSON text stored for side A; "" for all tokens."""
    return "" if settings["name"] == ALL_TOKENS["name"] else json.dumps(dict(settings))
