"""Check the declaration of a compressor from a plug-in: its names, texts and settings."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from gleanvid.compressors.base import Compressor
from gleanvid.errors import printable


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and -1e300 < value < 1e300


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and printable(value, "\n") == value


def _are_plain(values: Any) -> bool:
    return isinstance(values, tuple | list) and all(_is_text(v) or _is_number(v) for v in values)


# field of a Setting -> function that checks its value; all fields but "help" may be None
_DECLARED = {
    **dict.fromkeys(("help", "optional", "label", "at_most"), _is_text),
    **dict.fromkeys(("low", "high", "step", "start"), _is_number),
    "choices": _are_plain,
}


def check_declaration(compressor: type[Compressor]) -> None:
    """Raise ``ValueError`` unless name, title, paper and all settings of a method are valid."""
    kind = compressor.__name__
    if "__dataclass_params__" not in vars(compressor):
        raise ValueError(f"{kind} must be decorated with @dataclass(frozen=True)")
    for name in ("name", "title", "paper"):
        text: Any = getattr(compressor, name, None)
        if not _is_text(text) or not text.strip():
            raise ValueError(f"{kind}.{name}={text!r} must be text")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", compressor.name):
        raise ValueError(
            f"{kind}.name={compressor.name!r} must be a lower-case name such as my_method"
        )
    for item in fields(compressor):
        if "setting" not in item.metadata:
            raise ValueError(
                f"{kind}.{item.name} must be declared with setting(default, help, ...)"
            )
        if item.metadata["kind"] not in (bool, int, float, str):
            raise ValueError(
                f"{kind}.{item.name} must be declared with kind=int, float, str or bool"
            )
        for name, expected in _DECLARED.items():
            given = getattr(item.metadata["setting"], name)
            if not (given is None and name != "help") and not expected(given):
                raise ValueError(
                    f"{kind}.{item.name}: setting({name}={given!r}) has the wrong type"
                )
        others = item.metadata["setting"].at_most
        if others is not None and others not in {other.name for other in fields(compressor)}:
            raise ValueError(f"{kind}.{item.name}: at_most={others!r} is no setting of {kind}")
    try:
        compressor()
    except Exception as error:
        raise ValueError(f"{kind} refuses its own defaults: {error}") from error
