"""Settings of compressors: each is declared once, with its range and help text.

Sliders, command-line options, API schemas and error messages are read from the declaration.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

_PLAIN = {bool: "true or false", str: "text"}  # values of settings without a range


@dataclass(frozen=True)
class Setting:
    """One setting of a method: its range, step and help text.

    Validation, sliders and command-line options all use this description.
    """

    help: str
    low: float | None = None
    high: float | None = None
    step: float | None = None
    above_low: bool = False  # the range excludes ``low`` itself
    choices: tuple[Any, ...] | None = None
    optional: str | None = None  # what None means, e.g. "all preceding frames"
    start: float | None = None  # where the slider starts when an optional setting changes from None
    label: str | None = None  # label on the page; default: derived from the setting's name
    open: bool = False  # shown at once on the page, not under "More settings"
    at_most: str | None = None  # another setting that this one must not exceed

    def describe_range(self, kind: type = float) -> str:
        """Return the allowed values of a setting of type ``kind`` as text, such as "(0, 1]"."""
        if self.choices is not None:
            return "one of " + ", ".join(map(repr, self.choices))
        none = f" or None ({self.optional})" if self.optional else ""
        if kind in _PLAIN:
            return _PLAIN[kind] + none
        left = "(" if self.above_low or self.low is None else "["
        right = ")" if self.high is None else "]"
        low = "-inf" if self.low is None else f"{self.low:g}"
        high = "inf" if self.high is None else f"{self.high:g}"
        return f"in {left}{low}, {high}{right}{none}"

    def accepts(self, value: Any, kind: type) -> bool:
        """Return whether this setting, whose annotation is ``kind``, accepts ``value``."""
        if value is None:
            return self.optional is not None
        if self.choices is not None:
            return value in self.choices
        if kind in (bool, str):
            return isinstance(value, kind)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        if not abs(value) < math.inf or (kind is int and value != int(value)):
            return False
        if self.low is not None and (value < self.low or (self.above_low and value == self.low)):
            return False
        return self.high is None or value <= self.high


def setting(default: Any, help: str, *, kind: type | None = None, **limits: Any) -> Any:
    """Declare a setting of a compressor.

    Args:
        default: the value that a compressor has without the setting.
        help: one line for the command line and the app.
        kind: type of the values; None: that of ``default``.
        limits: other fields of :class:`Setting`, such as ``low``, ``high`` and ``choices``.
    """
    kind = kind or type(default)
    return field(default=default, metadata={"setting": Setting(help, **limits), "kind": kind})


def exact_setting() -> Any:
    """Declare ``exact``: whether to keep as many tokens as the budget, or as the authors' code."""
    return setting(
        True, "Keep exactly the token budget (off: as many tokens as the authors' code keeps)"
    )


def exact_on_average_setting() -> Any:
    """Declare ``exact``: whether the average over all layers meets the retention ratio."""
    return setting(True, "Meet the retention ratio exactly, on average over the layers")


def num_layers_setting() -> Any:
    """Declare ``num_layers``: layers of the model that the other settings name layers of."""
    return setting(28, "Number of layers that the language model has", low=2, high=128, step=1)
