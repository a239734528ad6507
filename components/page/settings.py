"""The settings: model, compressor, frames, pixels, seed, sampling.

Releasing a slider shows a preview of the kept tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import gradio as gr

from ..jobs.local import BUILT_IN, PHOTOS
from ..jobs.request import NEW_TOKENS, SEEDS
from ..server.serving import Limits
from ..widgets import controls, notice
from ..widgets.panel import Page, Panel

FRAMES = (4, 32)  # minimum and default number of sampled frames
PIXELS = {  # maximum number of pixels of a frame as the model sees it
    "The model's own limit": 0,
    "640 × 640": 640 * 640,
    "448 × 448": 448 * 448,
    "320 × 320": 320 * 320,
    "224 × 224": 224 * 224,
    "160 × 160": 160 * 160,
}
CLIP = "Any video or GIF, up to {size} MB."


class SettingsPanel(Panel):
    """The settings of the page.

    ``start`` and ``ratio``: initial values; ``model``: the widget of :func:`model_menu`.
    """

    def __init__(
        self,
        methods: controls.Methods,
        start: str,
        ratio: float,
        model: gr.Dropdown,
        limits: Limits,
    ) -> None:
        self.model = model
        heading("<h2>Tune B</h2>")
        method = controls.choice(methods, start)
        every = controls.settings_by_key(methods, start, ratio)
        in_the_open = controls.part(methods, every, start, in_the_open=True)
        refused = notice.plain("gv-refused")
        again, both = "Ask again on each change", "Also answer with all tokens"
        self.live = gr.Checkbox(True, label=again, interactive=True, elem_id="gv-live-switch")
        with gr.Accordion("More settings", open=False, elem_id="gv-more"):
            in_fold = controls.part(methods, every, start, in_the_open=False)
            heading(f"<h3>Clip</h3><p>{CLIP.format(size=limits.upload_mb)}</p>")
            self.frames, self.pixels = clip_settings(limits.max_frames)
            with gr.Row(elem_id="gv-span"):
                self.start, self.end = time_box("From", "the start"), time_box("To", "the end")
            heading("<h3>Answer</h3>")
            self.both = gr.Checkbox(True, label=both, interactive=True)
            self.seed = gr.Number(
                0, label="Seed", precision=0, minimum=0, maximum=SEEDS, interactive=True
            )
            self.temperature, self.top_p, self.new_tokens = sampling()
        self.controls = controls.Controls(method, every, [in_the_open, in_fold], refused)

    def linked(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "frames": self.frames,
            "pixels": self.pixels,
            "from": self.start,
            "to": self.end,
            "seed": self.seed,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "new_tokens": self.new_tokens,
            "compressor": self.controls.method,
        }

    def moved(self) -> list[Any]:
        """Return the widgets that show a preview on every change, also while a slider moves."""
        return [*self.controls.parts, self.seed, self.temperature, self.top_p, self.new_tokens]

    def connect(self, page: Page) -> None:
        self.page = page
        # Start a preview without waiting: it ends a running encoding, which may take minutes.
        clip = [
            self.controls.method.input,
            self.frames.release,
            self.pixels.input,
            *(event for box in (self.start, self.end) for event in (box.submit, box.blur)),
        ]
        page.preview.after(partial(gr.on, clip))
        page.preview.of_moves(partial(gr.on, [widget.change for widget in self.moved()]))


def model_menu(models: Sequence[tuple[str, str]]) -> gr.Dropdown:
    """Make the menu of models from (label, name) pairs; the first model is chosen."""
    follows = {BUILT_IN, PHOTOS} <= {name for _, name in models}
    label = "Model for this clip" if follows else "Model"
    return gr.Dropdown(
        list(models), value=models[0][1], label=label, interactive=True, elem_id="gv-model"
    )


def clip_settings(max_frames: int) -> tuple[gr.Slider, gr.Dropdown]:
    """Make the slider for the number of frames and the menu for the pixels of a frame."""
    frames = gr.Slider(
        FRAMES[0],
        max_frames,
        value=min(FRAMES[1], max_frames),
        step=2,
        label="Frames",
        info="Number of frames sampled evenly over the clip or its time span",
        interactive=True,
        elem_id="gv-num-frames",
    )
    pixels = gr.Dropdown(
        list(PIXELS.items()),
        value=0,
        label="Pixels per frame",
        info="Maximum number of pixels per frame as the model sees it",
        interactive=True,
    )
    return frames, pixels


def time_box(label: str, usual: str) -> gr.Textbox:
    """Make a text box for a time, seconds or mm:ss; ``usual``: what it shows while empty."""
    return gr.Textbox(
        "",
        label=label,
        placeholder=usual,
        info="Time in seconds or mm:ss",
        max_length=12,
        min_width=100,
        interactive=True,
    )


def heading(markup: str) -> gr.HTML:
    """Make a heading as HTML: for Markdown, Gradio would load a slow renderer first."""
    return gr.HTML(markup, js_on_load=None, apply_default_css=False, elem_classes="gv-heading")


def sampling() -> tuple[gr.Slider, gr.Slider, gr.Slider]:
    """Make the sliders for temperature, top-p and the length of the answer."""
    temperature = gr.Slider(
        0.0,
        2.0,
        value=0.0,
        step=0.05,
        label="Temperature",
        info="Sampling temperature; 0 = greedy decoding",
        interactive=True,
    )
    top_p = gr.Slider(
        0.05,
        1.0,
        value=1.0,
        step=0.05,
        label="Top-p",
        info="Nucleus sampling: cumulative probability kept",
        interactive=True,
    )
    least, usual, most = NEW_TOKENS
    new_tokens = gr.Slider(
        least,
        most,
        value=usual,
        step=1,
        label="Answer length",
        info="Maximum length of the answer in tokens",
        interactive=True,
    )
    return temperature, top_p, new_tokens
