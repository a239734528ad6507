"""Every setting in the address of the page, and back; a link is checked like any input."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from components.clip import Example

LOADED = "Settings as in the link. Press Ask to run them."
WRITE = """(...values) => {
  const names = NAMES, defaults = DEFAULTS, clips = CLIPS;
  const query = new URLSearchParams();
  names.forEach((name, index) => {
    let value = values[index];
    if (name === "clip") {
      const path = value?.path ?? value?.video?.path ?? "";
      value = clips.find((clip) => path.endsWith(clip)) ?? "";
    }
    if (value === null || value === undefined || value === "") return;
    if (String(value) !== String(defaults[index])) query.set(name, String(value));
  });
  const text = query.toString();
  history.replaceState(history.state, "", text ? `?${text}` : location.pathname);
}"""


def writer(named: Mapping[str, Any], examples: Sequence[Example]) -> str:
    """The script that puts the values of these widgets, in order, into the address."""
    defaults = [None if name == "clip" else widget.value for name, widget in named.items()]
    lists = {
        "NAMES": list(named),
        "DEFAULTS": defaults,
        "CLIPS": [example.path.name for example in examples],
    }
    script = WRITE
    for word, values in lists.items():
        script = script.replace(word, json.dumps(values, default=str))
    return script


def restored(
    query: Mapping[str, str], named: Mapping[str, Any], examples: Sequence[Example]
) -> list[Any]:
    """A value for every widget the link has a valid one for; the others are skipped."""
    clips = {example.path.name: str(example.path) for example in examples}
    found = []
    for name, widget in named.items():
        text = str(query.get(name, ""))
        if name == "clip":
            found.append(clips.get(text, gr.skip()))
        else:
            found.append(_value(widget, text) if text else gr.skip())
    return found


def _value(widget: Any, text: str) -> Any:
    """The text of a link as a value of this widget; skipped where it is none."""
    if isinstance(widget, gr.Dropdown):
        found = [value for _, value in widget.choices if str(value) == text]
        return found[0] if found else gr.skip()
    if isinstance(widget, gr.Checkbox):
        return {"true": True, "false": False}.get(text.lower(), gr.skip())
    if isinstance(widget, gr.Slider | gr.Number):
        return _number(widget, text)
    return text[:10_000]


def _number(widget: Any, text: str) -> Any:
    try:
        number = float(text)
    except ValueError:
        return gr.skip()
    low = -float("inf") if widget.minimum is None else widget.minimum
    high = float("inf") if widget.maximum is None else widget.maximum
    if not low <= number <= high:
        return gr.skip()
    return int(number) if number == int(number) else number
