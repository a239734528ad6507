"""What comes before the question: model, frames, pixels, seed, compressor, and how to sample.

A changed setting shows its effect once the hand is off it; nothing is encoded again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gradio as gr

from components.panels import controls
from components.panels.shared import AT_ONCE, Changes
from components.session.loading import BUILT_IN
from components.session.request import NEW_TOKENS, SEEDS

FRAMES = (4, 32)  # least and default number of sampled frames
PIXELS = {  # most pixels of a frame, as the model sees it
    "The model's own limit": 0,
    "640 × 640": 640 * 640,
    "448 × 448": 448 * 448,
    "320 × 320": 320 * 320,
    "224 × 224": 224 * 224,
    "160 × 160": 160 * 160,
}
PRESETS = (0.5, 0.25, 0.1)  # retention ratios one click away


class Settings(NamedTuple):
    model: gr.Dropdown
    frames: gr.Slider
    pixels: gr.Dropdown
    seed: gr.Number
    controls: controls.Controls
    temperature: gr.Slider
    top_p: gr.Slider
    new_tokens: gr.Slider

    def named(self) -> dict[str, Any]:
        """Every widget by its key in a link."""
        own = self.controls
        return {
            "model": self.model,
            "frames": self.frames,
            "pixels": self.pixels,
            "seed": self.seed,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "new_tokens": self.new_tokens,
            "compressor": own.method,
            "retention_ratio": own.ratio,
            **{f"{method}.{setting}": field for (method, setting), field in own.fields.items()},
        }


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
    pixels = gr.Dropdown(
        list(PIXELS.items()),
        value=0,
        label="Pixels per frame",
        info="At most, as the model sees it",
        interactive=True,
    )
    seed = gr.Number(
        0,
        label="Seed",
        precision=0,
        minimum=0,
        maximum=SEEDS,
        interactive=True,
        elem_classes="gv-short",
    )
    gr.Markdown("### Compression", elem_classes="gv-heading")
    own = controls.panel(methods, start["compressor"], PRESETS)
    gr.Markdown("### Answer", elem_classes="gv-heading")
    return Settings(model, frames, pixels, seed, own, *sampling())


def sampling() -> tuple[gr.Slider, gr.Slider, gr.Slider]:
    """Temperature, top-p and length, folded away."""
    with gr.Accordion("Advanced: sampling", open=False):
        temperature = gr.Slider(
            0.0,
            2.0,
            value=0.0,
            step=0.05,
            label="Temperature",
            info="0 always takes the likeliest word",
            interactive=True,
        )
        top_p = gr.Slider(
            0.05,
            1.0,
            value=1.0,
            step=0.05,
            label="Top-p",
            info="Draw from the likeliest words that share this much",
            interactive=True,
        )
        least, usual, most = NEW_TOKENS
        new_tokens = gr.Slider(
            least,
            most,
            value=usual,
            step=1,
            label="Answer length",
            info="At most this many tokens",
            interactive=True,
        )
    return temperature, top_p, new_tokens


def wire(panel: Settings, note: gr.Markdown, preview: dict[str, Any]) -> None:
    """``note`` goes with the built-in model."""
    own = panel.controls
    panel.model.input(
        lambda name: gr.update(visible=name == BUILT_IN), panel.model, note, **AT_ONCE
    )

    def on_method(name: str) -> Changes:
        return controls.method_changes(own, name)

    own.method.input(on_method, own.method, [own.ratio, *own.groups.values()], **AT_ONCE)
    for button, share in zip(own.presets, PRESETS, strict=True):
        button.click(lambda share=share: share, None, own.ratio, **AT_ONCE).then(**preview)
    changes = [own.method.input, panel.model.input, panel.frames.release, panel.pixels.input]
    for widget in [own.ratio, *own.fields.values()]:
        changes.append(widget.release if isinstance(widget, gr.Slider) else widget.change)
    gr.on(changes, **preview, trigger_mode="multiple")  # a newer preview ends the one before
