"""The compressor's settings, drawn from what each method declares: default, range, step and help.

No setting is written here by name except ``retention_ratio``, which all methods share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gradio as gr

from components.session.request import RATIO, has_free_ratio
from gleanvid.compressors import COMPRESSORS
from gleanvid.compressors.base import Compressor, Setting, declared_settings

SLIDER_STOPS = 1000  # a range with more stops than this is typed, not dragged

Methods = Mapping[str, type[Compressor]]


class Controls(NamedTuple):
    method: gr.Dropdown
    ratio: gr.Slider
    presets: list[gr.Button]  # one for each of the ratios given to :func:`panel`
    groups: dict[str, gr.Column]  # by method: the settings only it has
    fields: dict[tuple[str, str], Any]  # (method, setting) -> widget


def panel(methods: Methods, start: str, presets: Sequence[float] = ()) -> Controls:
    """A dropdown of methods, the ratio they share, and one hidden or shown group for each."""
    names = [(cls.title, name) for name, cls in methods.items()]
    method = gr.Dropdown(names, value=start, label="Compressor", interactive=True)
    ratio = draw(RATIO, *declared_settings(methods[start])[RATIO])
    with gr.Row(elem_classes="gv-presets"):
        buttons = [gr.Button(f"{share:.0%}", size="sm", min_width=40) for share in presets]
    groups, fields = {}, {}
    for name, cls in methods.items():
        own = [item for item in declared_settings(cls).items() if item[0] != RATIO]
        with gr.Column(visible=name == start, elem_classes="gv-method") as groups[name]:
            if own:
                with gr.Accordion(f"Advanced: {cls.title}", open=False):
                    for setting, spec in own:
                        fields[name, setting] = draw(setting, *spec)
    return Controls(method, ratio, buttons, groups, fields)


def draw(name: str, default: Any, kind: type, declared: Setting) -> Any:
    """The widget that suits one declared setting."""
    label = name.replace("_", " ").capitalize()
    shared: dict[str, Any] = {"label": label, "info": declared.help, "interactive": True}
    if declared.choices is not None:
        return gr.Dropdown(list(declared.choices), value=default, **shared)
    if kind is bool:
        return gr.Checkbox(value=default, **shared)
    low, high, step = declared.low, declared.high, declared.step
    if declared.optional:  # a slider cannot be left empty
        shared["placeholder"] = declared.optional
    elif low is not None and high is not None and step and (high - low) / step <= SLIDER_STOPS:
        least = low + step if declared.above_low else low
        return gr.Slider(least, high, value=default, step=step, **shared)
    precision = 0 if kind is int else None
    return gr.Number(value=default, step=step or 1e-4, precision=precision, **shared)


def method_changes(controls: Controls, method: str) -> dict[Any, Any]:
    """By widget: what is shown and hidden once a method is chosen."""
    free = gr.update(visible=has_free_ratio(COMPRESSORS[method]))
    groups = controls.groups.items()
    visibility = {group: gr.update(visible=name == method) for name, group in groups}
    return {controls.ratio: free} | visibility
