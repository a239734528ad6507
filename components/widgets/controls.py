"""Controls for the settings that each compressor declares.

A declaration has default, range, step and help. No setting is written here by name except
``retention_ratio``, which all methods share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from gleanvid.compressors import COMPRESSORS
from gleanvid.compressors.base import Compressor, declared_settings
from gleanvid.compressors.by_hand import ByHand
from gleanvid.compressors.settings import Setting

from ..jobs.methods import RATIO, has_free_ratio
from ..jobs.request import EDITED, NONE
from .method_settings import MethodSettings

SLIDER_STOPS = 2000  # a number with more possible values gets a number box, not a slider
FINE = 0.01  # step of numbers that are not integers, if none is declared

Methods = Mapping[str, type[Compressor]]


@dataclass(frozen=True)
class MethodSetting:
    """A setting that a compressor declares. ``key``: its name in a link, such as "gleanvid.tau"."""

    key: str
    default: Any
    kind: type
    declared: Setting

    @property
    def label(self) -> str:
        name = self.key.rpartition(".")[2]
        return self.declared.label or name.replace("_", " ").capitalize()

    @property
    def least(self) -> float | None:
        low = self.declared.low
        return low + self.step if low is not None and self.declared.above_low else low

    @property
    def step(self) -> float:
        return self.declared.step or (1 if self.kind is int else FINE)

    @property
    def widget(self) -> str:
        low, high = self.declared.low, self.declared.high
        if self.declared.choices is not None:
            return "list"
        if self.kind is bool:
            return "switch"
        dragged = None not in (low, high) and (high - low) / self.step <= SLIDER_STOPS  # type: ignore[operator]
        return "slider" if dragged else "number"

    def drawn(self) -> dict[str, Any]:
        """Return the data from which ``assets/tuning/settings.js`` draws the setting."""
        declared, prefix = self.declared, self.key.rpartition(".")[0]
        field: dict[str, Any] = {"key": self.key, "kind": self.widget, "default": self.default}
        field |= {"label": self.label, "help": declared.help}
        if self.widget in ("slider", "number"):
            field |= {"low": self.least, "high": declared.high, "step": self.step}
            field["whole"] = self.kind is int
        others = {
            "choices": declared.choices,
            "optional": declared.optional,
            "start": declared.start,
            "at_most": declared.at_most and f"{prefix}.{declared.at_most}",
        }
        return field | {name: value for name, value in others.items() if value}

    def read(self, text: str) -> Any:
        """Return the setting's value from a link's text. Raises ``ValueError`` if invalid."""
        if text == NONE and self.declared.optional:
            return None
        value: Any = text
        if self.kind is bool:
            value = {"true": True, "false": False}.get(text.lower(), text)
        elif self.kind in (int, float):
            number = float(text)
            value = int(number) if number.is_integer() else number
        if not self.declared.accepts(value, self.kind):
            values = self.declared.describe_range(self.kind)
            raise ValueError(f"{self.key}={text!r} must be {values}")
        return value


@dataclass(frozen=True)
class Controls:
    method: gr.Dropdown
    own: Mapping[str, MethodSetting]  # settings of all methods, by key in a link
    parts: Sequence[MethodSettings]  # two widgets: visible settings, "More settings"
    problem: gr.HTML  # why the current settings are refused; empty if they are valid

    @property
    def widgets(self) -> list[Any]:
        return [self.method, *self.parts]

    @property
    def defaults(self) -> dict[str, Any]:
        return {key: own.default for key, own in self.own.items()}

    def put(self, settings: Mapping[str, Any]) -> dict[Any, Any]:
        """Return the widget values that show ``settings``, which are given by key in a link."""
        changed = {
            key: value
            for key, value in settings.items()
            if key in self.own and value != self.own[key].default
        }
        return {
            part: {key: value for key, value in changed.items() if key in part.declared}
            for part in self.parts
        }


def settings_by_key(methods: Methods, start: str, ratio: float) -> dict[str, MethodSetting]:
    """Return a mapping from a key in a link to its setting, for all methods.

    All methods share the retention ratio, whose default is ``ratio``. Tokens that a visitor chose
    by hand are a setting of :class:`ByHand`.
    """
    _, kind, declared = declared_settings(methods[start])[RATIO]
    found = {RATIO: MethodSetting(RATIO, ratio, kind, declared)}
    every: Methods = {**methods, ByHand.name: ByHand}
    for name, method in every.items():
        for setting, spec in declared_settings(method).items():
            if setting != RATIO:
                found[f"{name}.{setting}"] = MethodSetting(f"{name}.{setting}", *spec)
    return found


def choice(methods: Methods, start: str) -> gr.Dropdown:
    names = [(cls.title, name) for name, cls in methods.items()]
    return gr.Dropdown(names, value=start, label="Compressor", interactive=True)


def part(
    methods: Methods, own: Mapping[str, MethodSetting], start: str, *, in_the_open: bool
) -> MethodSettings:
    """Make one of the two widgets that hold the settings of all methods.

    ``in_the_open``: True for the settings that are always visible, False for "More settings".
    ``own``: all settings by key. ``start``: the method that is shown first.
    """
    held = {
        key: setting
        for key, setting in own.items()
        if (setting.declared.open or key == RATIO) == in_the_open
    }
    shown = {
        name: [
            key
            for key in held
            if key.startswith(f"{name}.") or (key == RATIO and has_free_ratio(method))
        ]
        for name, method in methods.items()
    }
    fields = {key: setting.drawn() for key, setting in held.items()}
    return MethodSettings(fields=fields, shown=shown, method=start)


def given_settings(
    controls: Controls, settings: Mapping[str, Any], stood: Mapping[str, Any]
) -> dict[Any, Any]:
    """Return the widget values that show a compressor and its settings on the page.

    ``stood``: the settings that the page showed before, by key. Settings of other compressors stay.
    """
    method = str(settings["name"])
    own = {f"{method}.{name}": value for name, value in settings.items()}
    # The menu does not offer ``ByHand``: it still shows the compressor whose tokens were edited.
    if method == ByHand.name:
        return controls.put({**stood, **own})
    own[EDITED] = ""
    if has_free_ratio(COMPRESSORS[method]):
        own[RATIO] = settings[RATIO]
    return {controls.method: method} | controls.put({**stood, **own})
