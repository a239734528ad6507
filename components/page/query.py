"""Read the parameters in the URL of the page: the valid values, and the invalid ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import gradio as gr

from gleanvid.compressors import COMPRESSORS

from ..jobs.methods import pinned_settings
from ..jobs.request import EDITED, LONGEST
from ..widgets.controls import MethodSetting

# Valid values of the parameter "view", which a script of the viewer reads.
VIEWS = ("kept", "heat", "relevance", "ab", "groups", "original")
SHOWN_CHARS = 40  # maximum number of characters of an invalid value that a message quotes
OWN = "own"  # value of "clip" if the clip is an upload; see assets/page/links.js
NOT_IN_LINK = "The clip of this link was uploaded by its sender and is not in the link."


class Links(NamedTuple):
    """Parameters that a link to this page may have."""

    named: Mapping[str, Any]  # key in a link -> widget
    own: Mapping[str, MethodSetting]  # key in a link -> setting of a compressor
    clip: Callable[[str], str | None]  # returns the path of the clip with this name, or None
    tabs: Sequence[str]

    def valid(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Return the valid values of a link by key."""
        found = {}
        for name, widget in self.named.items():
            text = str(query.get(name, ""))
            value = self.read(name, widget, text) if text else None
            if value is not None:
                found[name] = value
        return found

    def read(self, name: str, widget: Any, text: str) -> Any:
        """Return the value of one parameter; None if its widget does not allow the value."""
        if name == "clip":
            return self.clip(text)
        if name == "a" and pinned_settings(text) is None:
            return None
        return _value(widget, text)

    def settings(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Return the valid settings of compressors in a link, by key."""
        found = {}
        for name, text in query.items():
            with suppress(ValueError):
                if name in self.own and text:
                    found[name] = self.own[name].read(text)
        return found

    def unread(self, query: Mapping[str, str]) -> dict[str, str]:
        """Return the invalid values of a link, by name.

        Unknown names are ignored: sites that pass links on may add tracking parameters.
        """
        known, settings = self.valid(query), self.settings(query)

        def is_read(key: str, text: str) -> bool:
            if key in self.named:
                return not text or (key in known and not _strange(self.named[key], text))
            if key in self.own:
                return not text or key in settings
            if key in ("tab", "view"):
                return text in (self.tabs if key == "tab" else VIEWS)
            return key.split(".")[0] not in COMPRESSORS

        return {name: text for name, text in query.items() if not is_read(name, text)}


def without_own_clip(query: Mapping[str, str]) -> dict[str, str]:
    """Return a link's parameters without an uploaded clip, which links cannot contain.

    Tokens of this clip that the sender chose by hand are left out as well.
    """
    of_clip = ("clip", EDITED) if query.get("clip") == OWN else ()
    return {name: text for name, text in query.items() if name not in of_clip}


def unread_value(found: Mapping[str, str], own: Sequence[str] = ()) -> dict[str, Any]:
    """Return the message that names the invalid values of a link, and what to remove from it.

    ``found``: invalid values by parameter, from :meth:`Links.unread`. ``own``: parameters of an
    uploaded clip, which :func:`without_own_clip` left out. The page removes all these parameters
    from its URL.
    """
    parts = [f"{name.replace('_', ' ')} “{_cut(text)}”" for name, text in found.items()]
    wrong = f"Not understood in this link: {', '.join(parts)}." if parts else ""
    text = " ".join(filter(None, [NOT_IN_LINK if own else "", wrong]))
    return {"text": text, "names": [*found, *own]}


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…"


def _strange(widget: Any, text: str) -> bool:
    """Return whether a list, such as the compared methods, has items that its widget lacks.

    Such items are named as invalid; the other items of the list are used.
    """
    if not isinstance(widget, gr.CheckboxGroup):
        return False
    return not {*text.split(",")} <= {str(value) for _, value in widget.choices}


def _value(widget: Any, text: str) -> Any:
    """Convert the text of a link to a value of this widget; None if it is not allowed."""
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
    if not widget.minimum <= number <= widget.maximum:
        return None
    return int(number) if number == int(number) else number
