"""Options of Gradio events (queue, progress), and the JavaScript that runs on an event.

Handlers take and return dictionaries from widget to value, so the order of widgets is irrelevant.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import gradio as gr

Values = Mapping[Any, Any]  # inputs of an event, by widget
Changes = dict[Any, Any]  # new values, by widget; other widgets keep their values

# Hide progress: Gradio updates a progress indicator per output, which is slow on this many
# components, and none is displayed.
PRIVATE: dict[str, Any] = {
    "show_progress": "hidden",
    "show_progress_on": [],
    "api_visibility": "private",
}
# Gradio would skip an event that arrives while the previous one is being handled.
AT_ONCE: dict[str, Any] = {"queue": False, "trigger_mode": "multiple", **PRIVATE}
# No limit in Gradio's queue: `ModelQueue` runs one job at a time and shows the position.
QUEUED: dict[str, Any] = {"concurrency_limit": None, **PRIVATE}


def script(name: str, *data: Any) -> str:
    """Return JavaScript for the ``js`` of an event: a function of ``window.gleanvid``.

    With ``data``, that function is called with it and must return the handler. See ``assets/page``.
    """
    if not data:
        return f"gleanvid.{name}"
    return f"gleanvid.{name}({', '.join(json.dumps(value, default=str) for value in data)})"


def part(name: str, markup: str, value: Any = None, *events: str, **options: Any) -> Any:
    """Return a ``gr.HTML`` whose value is drawn by function ``name`` of ``assets/page/parts.js``.

    Gradio gives a component only those ``events`` whose names occur in its script.
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
    """Yield the changes that are not empty, or ``gr.skip()`` if there is none.

    Gradio would empty the outputs of a generator that yields nothing.
    """
    is_changed = False
    for change in filter(None, changes):
        is_changed = True
        yield change
    if not is_changed:
        yield gr.skip()
