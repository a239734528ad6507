"""Options of Gradio events (queue, progress), and the JavaScript that runs on an event.

Event handlers take and return {widget: value}, so that the order of widgets does not matter.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import gradio as gr

from ..viewer import modules

Values = Mapping[Any, Any]  # input values of an event, by widget
Changes = dict[Any, Any]  # new values, by widget; other widgets keep their values

# Hide Gradio's progress indicators: the page displays none, and Gradio would update one for each
# output.
PRIVATE: dict[str, Any] = {
    "show_progress": "hidden",
    "show_progress_on": [],
    "api_visibility": "private",
}
# "multiple": otherwise Gradio skips an event that arrives while the previous one is being handled.
AT_ONCE: dict[str, Any] = {"queue": False, "trigger_mode": "multiple", **PRIVATE}
# No limit here: `ModelQueue` runs one job at a time and shows waiting jobs their position.
QUEUED: dict[str, Any] = {"concurrency_limit": None, **PRIVATE}


def script(name: str, *data: Any) -> str:
    """Return JavaScript for the argument ``js`` of an event: a function of ``window.gleanvid``.

    If ``data`` are given, the function is called with them and returns the handler. The functions
    are in ``assets/page``.
    """
    if not data:
        return f"gleanvid.{name}"
    return f"gleanvid.{name}({', '.join(json.dumps(value, default=str) for value in data)})"


def part(name: str, markup: str, value: Any = None, *events: str, **options: Any) -> Any:
    """Return a ``gr.HTML`` whose value is drawn by function ``name`` of ``assets/page/parts.js``.

    Gradio declares an event of the component only if the event's name occurs in the script.
    """
    mount = f"gleanvid.mount({json.dumps(name)}, {{ element, props, watch, trigger }});"
    heard = f"const EVENTS = {json.dumps(events)};\n"
    return gr.HTML(
        value, apply_default_css=False, html_template=markup, js_on_load=heard + mount, **options
    )


def mounted(
    name: str, markup: str, value: Any = None, *events: str, elem_id: str = "", **fixed: Any
) -> Any:
    """Return a ``gr.HTML`` whose value is drawn by the module ``assets/results/<name>.js``.

    ``fixed``: constants of the module; see :func:`components.viewer.modules.mounting`.
    """
    return gr.HTML(
        value,
        apply_default_css=False,
        html_template=markup,
        js_on_load=modules.mounting(f"results/{name}.js", events, **fixed),
        elem_id=elem_id or None,
    )


def signals() -> Any:
    """Return a component whose events the scripts of the page trigger by ``gleanvid.signal``.

    "preview": preview the settings; "tell": fill About; "queue": refresh the status of the queue.
    """
    markup = '<i class="gv-signals"></i>'
    return part("signals", markup, None, "preview", "tell", "queue", elem_id="gv-signals")


def or_nothing(changes: Iterable[Changes]) -> Iterator[Changes]:
    """Yield the non-empty changes; if none, ``gr.skip()`` keeps Gradio from emptying outputs."""
    is_changed = False
    for change in filter(None, changes):
        is_changed = True
        yield change
    if not is_changed:
        yield gr.skip()
