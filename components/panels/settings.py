"""What the tokens and the answer depend on: model, compressor, frames, pixels, seed, sampling.

A changed setting shows its effect once the hand is off it; nothing is encoded again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import gradio as gr

from gleanvid.compressors import COMPRESSORS

from ..server.serving import Limits
from ..session.request import NEW_TOKENS, SEEDS
from ..session.work.engine import Engine
from . import controls, habits
from .shared import AT_ONCE, Previews, Shared

FRAMES = (4, 32)  # least and default number of sampled frames
PIXELS = {  # most pixels of a frame, as the model sees it
    "The model's own limit": 0,
    "640 × 640": 640 * 640,
    "448 × 448": 448 * 448,
    "320 × 320": 320 * 320,
    "224 × 224": 224 * 224,
    "160 × 160": 160 * 160,
}
FOLDED = ("frames", "pixels", "seed", "temperature", "top_p", "new_tokens")  # of More settings
CLIP = "Any video or GIF, up to {size} MB."


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
        return {
            "model": self.model,
            "frames": self.frames,
            "pixels": self.pixels,
            "seed": self.seed,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "new_tokens": self.new_tokens,
            "compressor": self.controls.method,
        }


def model(models: Sequence[tuple[str, str]]) -> gr.Dropdown:
    """``models`` are (label, name) pairs, the first one chosen."""
    return gr.Dropdown(
        list(models), value=models[0][1], label="Model", interactive=True, elem_id="gv-model"
    )


def panel(
    methods: controls.Methods, start: str, ratio: float, model: gr.Dropdown, limits: Limits
) -> tuple[Settings, habits.Habits]:
    """``start`` and ``ratio``: what stands first; ``model``: the widget of :func:`model`."""
    heading("<h2>Tune B</h2>")
    method = controls.choice(methods, start)
    every = controls.own_settings(methods, start, ratio)
    in_the_open = controls.part(methods, every, start, in_the_open=True)
    refused = controls.problem()
    live = habits.live()
    with gr.Accordion("More settings", open=False, elem_id="gv-more"):
        folded = controls.part(methods, every, start, in_the_open=False)
        heading(f"<h3>Clip</h3><p>{CLIP.format(size=limits.upload_mb)}</p>")
        frames = gr.Slider(
            FRAMES[0],
            limits.max_frames,
            value=min(FRAMES[1], limits.max_frames),
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
        heading("<h3>Answer</h3>")
        asks = habits.panel(live, str(model.value))
        seed = gr.Number(
            0,
            label="Seed",
            precision=0,
            minimum=0,
            maximum=SEEDS,
            interactive=True,
            elem_classes="gv-short",
        )
        sampled = sampling()
    own = controls.Controls(method, every, [in_the_open, folded], refused)
    return Settings(model, frames, pixels, seed, own, *sampled), asks


def heading(markup: str) -> gr.HTML:
    """The first screen has no Markdown: Gradio would load what renders and colours it."""
    return gr.HTML(markup, js_on_load=None, apply_default_css=False, elem_classes="gv-heading")


def sampling() -> tuple[gr.Slider, gr.Slider, gr.Slider]:
    """Temperature, top-p and length."""
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


def wire(engine: Engine, shared: Shared, panel: Settings, preview: Previews) -> list[Any]:
    """The events after which the tokens of other settings are shown."""
    own = panel.controls
    # A clip may be encoded for minutes: the preview of another one ends it at once.
    clip = [own.method.input, panel.model.input, panel.frames.release, panel.pixels.input]
    # A slider changes many times while it is dragged; a newer preview ends the one before.
    moves = [widget.change for widget in moved(panel)]
    previews = [preview(partial(gr.on, clip)), preview.of_moves(partial(gr.on, moves))]
    viewer: Any = shared.viewer
    viewer.show(_reading(engine), shared.runs, own.parts[0], **AT_ONCE)
    return previews


def moved(panel: Settings) -> list[Any]:
    """Widgets whose every change is followed by a preview, whoever made it."""
    words = [panel.seed, panel.temperature, panel.top_p, panel.new_tokens]  # other answers
    return [*panel.controls.parts, *words]


def _reading(engine: Engine) -> Callable[[list[str]], Any]:
    """Writes what the clip made of the settings, from the run in charge."""

    def on_runs(ids: list[str]) -> Any:
        run = engine.runs.get(ids[0]) if ids else None
        method = COMPRESSORS.get(str(run.compressor["name"])) if run else None
        text = controls.readout(method, run.compression) if run and method else ""
        return gr.update(readout=text)

    return on_runs
