"""What comes before the question: model, frames, pixels, seed, compressor, and how to sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gradio as gr

from components.panels import controls

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
SEEDS = 2**31 - 1
LONGEST = 10_000  # characters of a question
NEW_TOKENS = (1, 64, 256)  # least, default and greatest length of an answer


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
        """Every widget by the name it has in a link, in a fixed order."""
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


def clamped(name: str, value: Any, low: float, high: float) -> float:
    """A number that came from a page, refused in words where it is none or out of range."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ValueError(f"{name}={value!r} must be in [{low:g}, {high:g}]")
    return value
