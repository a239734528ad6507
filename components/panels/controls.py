"""The compressor's settings, drawn from what each method declares: default, range, step and help.

No setting is written here by name except ``retention_ratio``, which all methods share. A setting
that may be None is a switch with the words for None, and a slider that shows once it is off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from gleanvid.compressors import COMPRESSORS
from gleanvid.compressors.base import Compressor, Setting, declared_settings
from gleanvid.metrics import saturation
from gleanvid.types import Compression

from ..session.request import AUTO, RATIO, has_free_ratio
from . import notice

SLIDER_STOPS = 2000  # a range with more stops than this is typed, not dragged
FINE = 0.01  # step of a share or cosine that declares none

Methods = Mapping[str, type[Compressor]]
Key = tuple[str, str]  # method and setting


@dataclass(frozen=True)
class Part:
    """The settings of every method that stand in one place; only one method's are visible."""

    groups: Mapping[str, gr.Column]  # by method
    fields: Mapping[Key, Any]
    switches: Mapping[Key, gr.Checkbox]  # on: the setting is None
    readouts: Mapping[str, gr.HTML]  # by method: what the clip made of its settings


@dataclass(frozen=True)
class Controls:
    method: gr.Dropdown
    ratio: gr.Slider
    parts: Sequence[Part]  # what stands in the open, and what is folded away
    problem: gr.HTML  # why the settings as they stand are refused; empty where they are not

    @property
    def groups(self) -> list[tuple[str, gr.Column]]:
        return [item for part in self.parts for item in part.groups.items()]

    @property
    def fields(self) -> dict[Key, Any]:
        return {key: field for part in self.parts for key, field in part.fields.items()}

    @property
    def switches(self) -> dict[Key, gr.Checkbox]:
        return {key: switch for part in self.parts for key, switch in part.switches.items()}

    @property
    def readouts(self) -> dict[str, gr.HTML]:
        return {name: line for part in self.parts for name, line in part.readouts.items()}

    @property
    def pairs(self) -> list[tuple[Any, Any]]:
        """Two widgets of which the first never stands above the second."""
        fields = self.fields
        return [
            (low, fields[name, declared.at_most])
            for (name, setting), low in fields.items()
            if (declared := declared_settings(COMPRESSORS[name])[setting][2]).at_most
        ]

    @property
    def by_method(self) -> list[list[Any]]:
        """What holds the settings of a method, for each that has any."""
        held = [*self.fields.items(), *self.switches.items()]
        names = dict.fromkeys(name for (name, _), _ in held)
        return [[widget for (of, _), widget in held if of == name] for name in names]

    @property
    def widgets(self) -> list[Any]:
        """Every widget that holds a value."""
        return list(self.named().values())

    def named(self) -> dict[str, Any]:
        """Every widget by its key in a link."""
        fields = {".".join(key): field for key, field in self.fields.items()}
        switches = {".".join((*key, AUTO)): switch for key, switch in self.switches.items()}
        return {"compressor": self.method, RATIO: self.ratio} | fields | switches


def choice(methods: Methods, start: str) -> gr.Dropdown:
    names = [(cls.title, name) for name, cls in methods.items()]
    return gr.Dropdown(names, value=start, label="Compressor", interactive=True)


def budget(method: type[Compressor], start: float) -> gr.Slider:
    """The ratio that all methods share."""
    _, kind, declared = declared_settings(method)[RATIO]
    slider: gr.Slider = draw(RATIO, start, kind, declared)
    return slider


def in_the_open(methods: Methods, start: str) -> Part:
    """The few settings that a method wants in sight."""
    return _part(methods, start, True)


def more(methods: Methods, start: str) -> Part:
    """All other settings, in one fold."""
    return _part(methods, start, False)


def problem() -> gr.HTML:
    return notice.text("gv-refused")


def _part(methods: Methods, start: str, is_open: bool) -> Part:
    part = Part({}, {}, {}, {})
    groups: dict[str, gr.Column] = {}
    for name, cls in methods.items():
        own = {
            setting: spec
            for setting, spec in declared_settings(cls).items()
            if setting != RATIO and spec[2].open == is_open
        }
        if not own:
            continue
        with gr.Column(visible=name == start, elem_classes="gv-method") as groups[name]:
            part = _drawn(part, name, own)
    return Part(groups, part.fields, part.switches, part.readouts)


def _drawn(before: Part, method: str, own: Mapping[str, tuple[Any, type, Setting]]) -> Part:
    """What was drawn before, with the settings of one more method."""
    fields, switches = dict(before.fields), dict(before.switches)
    readouts = dict(before.readouts)
    for setting, (default, kind, declared) in own.items():
        if declared.optional:
            words = f"{label(setting, declared)}: {declared.optional}"
            switches[method, setting] = gr.Checkbox(default is None, label=words, interactive=True)
        fields[method, setting] = draw(setting, default, kind, declared)
        if declared.readout:
            readouts[method] = notice.text("gv-readout")
    return Part(before.groups, fields, switches, readouts)


def label(name: str, declared: Setting) -> str:
    return declared.label or name.replace("_", " ").capitalize()


def draw(name: str, default: Any, kind: type, declared: Setting) -> Any:
    """The widget that suits one declared setting."""
    shared: dict[str, Any] = {"label": label(name, declared), "info": declared.help}
    shared["interactive"] = True
    if declared.choices is not None:
        return gr.Dropdown(list(declared.choices), value=default, **shared)
    if kind is bool:
        return gr.Checkbox(value=default, **shared)
    if default is None:
        shared["visible"], default = False, declared.start
    low, high = declared.low, declared.high
    step = declared.step or (1 if kind is int else FINE)
    if low is None or high is None or (high - low) / step > SLIDER_STOPS:
        precision = 0 if kind is int else None
        limits: dict[str, Any] = {"minimum": low, "maximum": high}
        return gr.Number(value=default, step=step, precision=precision, **limits, **shared)
    least = low + step if declared.above_low else low
    return gr.Slider(least, high, value=default, step=step, **shared)


def chosen_method(controls: Controls, method: str) -> dict[Any, Any]:
    """By widget: what is shown and hidden once a method is chosen."""
    free = gr.update(visible=has_free_ratio(COMPRESSORS[method]))
    columns = {group: gr.update(visible=name == method) for name, group in controls.groups}
    return {controls.ratio: free} | columns


def given_settings(controls: Controls, settings: Mapping[str, Any]) -> dict[Any, Any]:
    """By widget: what a compressor's own settings are on the page."""
    method = str(settings["name"])
    changes = {controls.method: method} | chosen_method(controls, method)
    for (name, setting), field in controls.fields.items():
        if name != method or setting not in settings:
            continue
        value, switch = settings[setting], controls.switches.get((name, setting))
        if switch is not None:
            changes[switch] = value is None
        if value is not None:
            changes[field] = gr.update(value=value, visible=True)
    ratio = {"value": settings[RATIO]} if has_free_ratio(COMPRESSORS[method]) else {}
    changes[controls.ratio] = changes[controls.ratio] | ratio
    return changes


def readout(method: type[Compressor], record: Compression) -> str:
    """What a clip made of the settings: ``This clip: alpha 0.30, Gini 0.76``; empty if unknown.

    Then, where there are any, how many units had nothing new to add.
    """
    trace = record.trace
    names = [
        name for _, _, declared in declared_settings(method).values() for name in declared.readout
    ]
    if not names or not all(name in trace for name in names):
        return ""
    values = (f"{name.replace('gini', 'Gini')} {float(trace[name]):.2f}" for name in names)
    sentences = ["This clip: " + ", ".join(values), str(saturation(record) or "")]
    return ". ".join(filter(None, sentences))
