"""How events of the page behave, and which of its scripts runs on one.

Handlers take and return dictionaries from widget to value, so no position stands for a widget.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import gradio as gr

Values = Mapping[Any, Any]  # by widget: the inputs of an event
Changes = dict[Any, Any]  # by widget: what an event changes; the others stay

# Hide progress: Gradio updates a progress indicator per output, which is slow on this many
# components, and none is displayed.
PRIVATE: dict[str, Any] = {
    "show_progress": "hidden",
    "show_progress_on": [],
    "api_visibility": "private",
}
# Gradio would skip an event that comes while the one before is on its way.
AT_ONCE: dict[str, Any] = {"queue": False, "trigger_mode": "multiple", **PRIVATE}
# Gradio's queue lets all in: the model's own queue takes one at a time, and says who waits.
QUEUED: dict[str, Any] = {"concurrency_limit": None, **PRIVATE}


def script(name: str, *data: Any) -> str:
    """Return JavaScript for the ``js`` of an event: a function of ``window.gleanvid``.

    With ``data``, the function that this function returns for it. See ``assets/page``.
    """
    if not data:
        return f"gleanvid.{name}"
    return f"gleanvid.{name}({', '.join(json.dumps(value, default=str) for value in data)})"


def part(name: str, markup: str, value: Any = None, *events: str, **options: Any) -> Any:
    """A ``gr.HTML`` that shows its value by a part of ``assets/page/parts.js``.

    Gradio gives a component the ``events`` whose names stand in its script.
    """
    mount = f"gleanvid.mount({json.dumps(name)}, {{ element, props, watch, trigger }});"
    heard = f"const EVENTS = {json.dumps(events)};\n"
    return gr.HTML(
        value,
        apply_default_css=False,
        html_template=markup,
        js_on_load=heard + mount,
        **options,
    )


def or_nothing(changes: Iterable[Changes]) -> Iterator[Changes]:
    """Leave out empty changes: Gradio empties the outputs of a generator that yields nothing."""
    is_changed = False
    for change in filter(None, changes):
        is_changed = True
        yield change
    if not is_changed:
        yield gr.skip()
