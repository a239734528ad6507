"""Compressors as a page names and sets them, and which of them a model can run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gleanvid.compressors import COMPRESSORS, METHODS, from_settings
from gleanvid.compressors.base import Compressor, declared_settings
from gleanvid.errors import MALFORMED

from .local import PHOTOS

PINNED_CHARS = 10_000  # maximum length of the JSON of A's pinned settings, in characters
RATIO = "retention_ratio"  # every compressor has this setting
NOT_SERVED = "{title} {why}, which the Photo encoder does not have: choose another compressor."


def can_answer(model: str) -> bool:
    return model != PHOTOS


def refusal(model: str, compressor: Compressor) -> str:
    """Return a sentence on why the model cannot run a compressor; empty if it can."""
    why = lacking(model, compressor)
    return NOT_SERVED.format(title=compressor.title, why=why) if why else ""


def lacking(model: str, compressor: Compressor) -> str:
    """Return why the model cannot run a compressor, as in "reads attention"; empty if it can."""
    if can_answer(model):
        return ""
    if "text" in compressor.needs:
        return "reads the question in a language model"
    if compressor.needs:
        return "reads attention"
    is_inside = any(layer for layer, _ in compressor.stages)
    return "acts inside a language model" if is_inside else ""


def sent_settings(value: Any) -> dict[str, Any]:
    """Return compressor settings that a page sent. The compressors check the values later.

    Raises ``TypeError`` for anything but a dictionary of plain values.
    """
    if not isinstance(value, dict):
        raise TypeError("settings must be a dictionary")
    for one in value.values():
        if not isinstance(one, bool | int | float | str | None):
            raise TypeError(f"{type(one).__name__} is no setting: send text, number, bool or null")
    return value


def make_compressor(name: str, settings: Mapping[str, Any]) -> Compressor:
    """Return a compressor with settings as a page sends them.

    A page may send an integer as a float, such as 4.0. The retention ratio is ignored if the
    compressor has a fixed one. Raises ``ValueError``, which names the setting, for a bad value.
    """
    if name not in METHODS:
        raise ValueError(f"compressor={name!r} must be one of {', '.join(COMPRESSORS)}")
    method, values = METHODS[name], dict(settings)
    for setting, (_, kind, _) in declared_settings(method).items():
        value = values.get(setting)
        if kind is int and isinstance(value, float) and value.is_integer():
            values[setting] = int(value)
    if not has_free_ratio(method):
        values.pop(RATIO, None)
    return from_settings({"name": name} | values)


def has_free_ratio(method: type[Compressor]) -> bool:
    """Whether the retention ratio of a method can be chosen."""
    declared = declared_settings(method)[RATIO][2]
    return declared.low != declared.high


def pinned_settings(text: str | None, model: str = "") -> dict[str, Any] | None:
    """Return the settings of A's compressor, from the JSON that a page or link contains.

    Returns None if the JSON is invalid or ``model`` cannot run the compressor. A then keeps all
    tokens.
    """
    try:
        compressor = from_settings(json.loads((text or "")[:PINNED_CHARS]))
    except MALFORMED:
        return None
    return None if refusal(model, compressor) else compressor.settings()
