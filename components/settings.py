"""What comes before the question: the model, the number of frames, and the compressor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gradio as gr

from components import controls

FRAMES = (4, 32)  # least and default number of sampled frames


class Settings(NamedTuple):
    model: gr.Dropdown
    frames: gr.Slider
    controls: controls.Controls


def panel(
    methods: controls.Methods,
    models: Sequence[tuple[str, str]],
    max_frames: int,
    start: Mapping[str, Any],
) -> Settings:
    """``models`` are (label, name) pairs; ``start`` names the model and compressor shown."""
    gr.Markdown("### Model", elem_classes="gv-heading")
    model = gr.Dropdown(list(models), value=start["model"], label="Video LLM", interactive=True)
    frames = gr.Slider(
        FRAMES[0],
        max_frames,
        value=min(start.get("frames", FRAMES[1]), max_frames),
        step=2,
        label="Frames",
        info="Sampled evenly over the whole clip",
        interactive=True,
    )
    gr.Markdown("### Compression", elem_classes="gv-heading")
    return Settings(model, frames, controls.panel(methods, start["compressor"]))
