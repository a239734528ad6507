"""Parse methods written as text: ``gleanvid``, ``V-CAST``, ``fastvid(variant=llava_video)``.

This module knows no method; :func:`gleanvid.compressors.method_from` makes one from the result.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from gleanvid.errors import MALFORMED

_COMMA = r",\s*"


def names_in(text: str) -> list[str]:
    """Split a list such as ``gleanvid,fastvid(variant=llava_video, beta=0.5)`` into methods."""
    return re.split(_COMMA + r"(?![^()]*\))", text.strip())


def settings_in(text: str) -> dict[str, Any]:
    """Parse ``name(setting=value, ...)`` into a dict with "name" and the settings.

    Values are as in Python; words need no quotes. A number alone is the retention ratio.

    >>> from gleanvid.compressors.specs import settings_in
    >>> settings_in("V-CAST(0.1, temperature=2)")
    {'name': 'V-CAST', 'retention_ratio': 0.1, 'temperature': 2}
    """
    name, _, listed = text.strip().removesuffix(")").partition("(")
    settings: dict[str, Any] = {"name": name.strip()}
    for part in re.split(_COMMA, listed.strip()):
        setting, given, value = part.partition("=")
        if not given and type(_value(part)) in (int, float):
            setting, value = "retention_ratio", part
        if part:
            settings[setting.strip()] = _value(value.strip())
    return settings


def merged(text: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the name and settings in ``text``, and the settings ``given`` outside of it.

    Raises ``ValueError`` if a setting has two values.
    """
    written = settings_in(text)
    for setting, value in given.items():
        if written.get(setting, value) != value:
            raise ValueError(
                f"{setting} has two values: {written[setting]!r} in {text}, and {value!r}"
            )
    return written | dict(given)


def _value(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (*MALFORMED, SyntaxError):
        return text


def key_in(known: Mapping[str, str], name: Any) -> str:
    """Return the key of a method that is named by its key or its title.

    Only letters and digits count, in any case. ``known`` maps keys to titles. Raises
    ``ValueError`` for an unknown name, with the closest key as a suggestion.
    """
    keys = {plain(title): key for key, title in known.items()}
    keys |= {plain(key): key for key in known}
    asked = plain(name) if isinstance(name, str) else ""
    if asked in keys:
        return keys[asked]
    near = get_close_matches(asked, keys, 1)
    hint = f"; did you mean {keys[near[0]]!r}?" if near else ""
    raise ValueError(f"compressor={name!r} must be one of {', '.join(known)}{hint}")


def plain(name: str) -> str:
    """Return the letters and digits of a name, in lower case."""
    return re.sub(r"[\W_]", "", name).lower()
