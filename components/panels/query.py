"""What the address of a page says: values of widgets, and what of it is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from gleanvid.compressors import COMPRESSORS

from ..session.examples import Example
from ..session.request import AUTO, LONGEST, pinned_settings
from .controls import Controls, chosen_method
from .shared import Changes

VIEWS = ("kept", "heat", "ab", "groups", "original")  # of the viewer, which reads its own
SHOWN_CHARS = 40  # of a value that is repeated to the person
_CURRENT_NAMES = {  # of a setting that had another name when the link was copied
    f"{name}.{before}": f"{name}.{now}"
    for name, method in COMPRESSORS.items()
    for before, now in method.renamed.items()
}


def link_changes(
    query: Mapping[str, str],
    named: Mapping[str, Any],
    examples: Sequence[Example],
    controls: Controls,
) -> Changes:
    """What a link sets, with the settings of its compressor shown."""
    values = valid(query, named, examples)
    changes = {named[name]: value for name, value in values.items()}
    changes |= switched(values, controls)
    method = query.get("compressor", "")
    if method in COMPRESSORS:
        given = {"value": changes[controls.ratio]} if controls.ratio in changes else {}
        changes |= chosen_method(controls, method)
        changes[controls.ratio] = changes[controls.ratio] | given
    return changes


def switched(values: Mapping[str, Any], controls: Controls) -> Changes:
    """A setting that a link has a value for is not left to None, and its slider is seen."""
    changes: Changes = {}
    for key, switch in controls.switches.items():
        name = ".".join(key)
        off = not values.get(f"{name}.{AUTO}", True)
        if off or (name in values and f"{name}.{AUTO}" not in values):
            value = {"value": values[name]} if name in values else {}
            changes |= {switch: False, controls.fields[key]: gr.update(visible=True, **value)}
    return changes


def valid(
    query: Mapping[str, str], named: Mapping[str, Any], examples: Sequence[Example]
) -> dict[str, Any]:
    """By key: what a link says that a widget could say, too."""
    query = current(query)
    found = {}
    for name, widget in named.items():
        text = str(query.get(name, ""))
        value = _read(name, widget, text, examples) if text else None
        if value is not None:
            found[name] = value
    return found


def unread(
    query: Mapping[str, str],
    named: Mapping[str, Any],
    examples: Sequence[Example],
    tabs: Sequence[str],
) -> dict[str, str]:
    """By key: what a link says of this page that no widget of it could say.

    A key that is none of ours may come from whoever passed the link on.
    """
    known, found = valid(query, named, examples), {}
    for name, text in query.items():
        now = _CURRENT_NAMES.get(name, name)
        if now in named:
            is_read = not text or (now in known and not _strange(named[now], text))
        elif now in ("tab", "view"):
            is_read = text in (tabs if now == "tab" else VIEWS)
        else:
            is_read = now.split(".")[0] not in COMPRESSORS
        if not is_read:
            found[name] = text
    return found


def unread_value(found: Mapping[str, str]) -> dict[str, Any]:
    """The value of the line that names what :func:`unread` found."""
    parts = [f"{name.replace('_', ' ')} “{_cut(text)}”" for name, text in found.items()]
    text = f"Not understood in this link: {', '.join(parts)}." if parts else ""
    return {"text": text, "names": [*found]}


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…"


def current(query: Mapping[str, str]) -> dict[str, str]:
    """The same under the names that settings have now."""
    return {_CURRENT_NAMES.get(name, name): text for name, text in query.items()}


def _strange(widget: Any, text: str) -> bool:
    """Whether a list has items that its widget does not offer; the others are taken."""
    if not isinstance(widget, gr.CheckboxGroup):
        return False
    return not {*text.split(",")} <= {str(value) for _, value in widget.choices}


def _read(name: str, widget: Any, text: str, examples: Sequence[Example]) -> Any:
    """The text of a link under this key as a value of the widget; None where it is none."""
    if name == "clip":
        clips = {example.path.name: str(example.path) for example in examples}
        return clips.get(text)
    if name == "a" and pinned_settings(text) is None:
        return None
    return _value(widget, text)


def _value(widget: Any, text: str) -> Any:
    """The text of a link as a value of this widget; None where it is none."""
    if isinstance(widget, gr.Dropdown):
        return next((value for _, value in widget.choices if str(value) == text), None)
    if isinstance(widget, gr.CheckboxGroup):
        wanted = text.split(",")
        return [value for _, value in widget.choices if str(value) in wanted] or None
    if isinstance(widget, gr.Checkbox):
        return {"true": True, "false": False}.get(text.lower())
    if isinstance(widget, gr.Slider | gr.Number):
        return _number(widget, text)
    return text[:LONGEST]


def _number(widget: Any, text: str) -> float | int | None:
    try:
        number = float(text)
    except ValueError:
        return None
    low = -float("inf") if widget.minimum is None else widget.minimum
    high = float("inf") if widget.maximum is None else widget.maximum
    if not low <= number <= high:
        return None
    return int(number) if number == int(number) else number
