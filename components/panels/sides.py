"""What a person does with the two sides of the viewer: choose, swap and pin.

B has the settings of the page. What is chosen for A stays there until something else is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from gleanvid.compressors import COMPRESSORS

from ..session.request import ALL_TOKENS, RATIO
from ..session.work.engine import Engine
from .controls import Controls, given_settings
from .shared import AT_ONCE, Changes, Previews, Shared, Values


def choices() -> list[tuple[str, str]]:
    """What the titles of A and B offer to run: (name, title)."""
    return [(name, method.title) for name, method in COMPRESSORS.items()]


def pinned(settings: Mapping[str, Any]) -> str:
    return "" if settings["name"] == ALL_TOKENS["name"] else json.dumps(dict(settings))


def panel() -> gr.Textbox:
    """Holds what A is, where that is not all tokens; a link has it, too."""
    return gr.Textbox("", visible="hidden", show_label=False, container=False, elem_id="gv-a")


@dataclass(frozen=True)
class Chosen:
    """What becomes of a choice made in the viewer: :attr:`pinned` and the settings follow it."""

    engine: Engine
    shared: Shared
    controls: Controls
    wanted: gr.State  # the method that was picked in the title of A

    def settings_of(self, run_id: Any) -> Mapping[str, Any] | None:
        run = self.engine.runs.get(str(run_id)) if run_id else None
        known = run is not None and run.compressor.get("name") in COMPRESSORS
        return run.compressor if run is not None and known else None

    def stand(
        self, a: Mapping[str, Any] | None, b: Mapping[str, Any] | None, values: Values
    ) -> Changes:
        """The settings of both sides where the page holds them."""
        changes = {} if a is None else {self.shared.pinned: pinned(a)}
        if b is None:
            return changes
        stood = {key: value for part in self.controls.parts for key, value in values[part].items()}
        return changes | given_settings(self.controls, b, stood)

    def on_pair(self, event: gr.EventData, values: Values) -> Changes:
        """A keeps what stands there now; the settings of the page become those of B."""
        ids = [getattr(event, side, None) for side in ("a", "b")]
        a, b = map(self.settings_of, ids)
        changes = self.stand(a, b, values)
        others = [run_id for run_id in values[self.shared.runs] if run_id not in ids]
        if a is not None and b is not None:
            order = list(dict.fromkeys(str(run_id) for run_id in reversed(ids)))
            changes[self.shared.runs] = [*order, *others]
        return changes | self.asked(ids, values[self.shared.runs][:2])

    def asked(self, ids: Sequence[Any], before: Sequence[str]) -> Changes:
        """The question of what was put to a side: its answer would be out of date to another."""
        runs = [self.engine.runs.get(str(one)) for one in ids if one and one not in before]
        texts = [run.question for run in runs if run is not None and run.question]
        return {self.shared.question: texts[-1]} if texts else {}

    def on_method(self, event: gr.EventData) -> Changes:
        name = str(getattr(event, "name", ""))
        if name not in COMPRESSORS:
            return gr.skip()
        if getattr(event, "side", "") == "b":
            return {self.controls.method: name, self.wanted: ""}
        return {self.wanted: name}

    def on_wanted(self, values: Values) -> Changes:
        """A becomes a method with the settings that the page has for it."""
        if not values[self.wanted]:
            return gr.skip()
        values = self.shared.unpacked(values)
        ratio = self.shared.named(values)[RATIO]
        compressor = self.shared.maker(values)(values[self.wanted], ratio)
        return {self.shared.pinned: pinned(compressor.settings())}

    def on_compared(self, values: Values) -> Changes:
        b, a = map(self.settings_of, [*values[self.shared.runs], None, None][:2])
        return self.stand(a, b, values) or gr.skip()

    def on_clear(self, values: Values) -> Changes:
        return {self.shared.runs: list(values[self.shared.runs])[:2]}


def wire(
    engine: Engine,
    shared: Shared,
    controls: Controls,
    preview: Previews,
    compared: list[Any],
) -> list[Any]:
    """The events that have shown the tokens of what was chosen.

    ``compared``: the events that leave other methods on both sides.
    """
    viewer: Any = shared.viewer
    chosen = Chosen(engine, shared, controls, wanted=gr.State(""))
    wanted, widgets, inputs = chosen.wanted, controls.widgets, {shared.runs, *controls.parts}
    outputs = [shared.pinned, shared.runs, shared.question, *widgets]
    moved = [
        event(chosen.on_pair, inputs, outputs, **AT_ONCE)
        for event in (viewer.pair, viewer.swap, viewer.pin)
    ]
    named = viewer.method(chosen.on_method, None, [wanted, *widgets], **AT_ONCE)
    to_a = shared.when(named.success, chosen.on_wanted, [shared.pinned], [wanted], **AT_ONCE)
    forgotten = viewer.clear(chosen.on_clear, inputs, [shared.runs], **AT_ONCE)
    preview(forgotten.success)
    for event in compared:
        stood = event.then(chosen.on_compared, inputs, [shared.pinned, *widgets], **AT_ONCE)
        shared.packed.gathered(stood.then)
    return [preview(event.success) for event in (*moved, to_a)]
