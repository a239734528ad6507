"""What comes before the question: model, frames, pixels, seed, compressor, and how to sample.

A changed setting shows its effect once the hand is off it; nothing is encoded again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import gradio as gr

from components.panels import controls
from components.panels.shared import AT_ONCE, UNSEEN, Changes
from components.session.engine import Engine
from components.session.loading import BUILT_IN
from components.session.request import NEW_TOKENS, SEEDS
from gleanvid.compressors import COMPRESSORS

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
PUSH = """(moved, other) =>
  moved === null || document.activeElement?.type === "number" ? other : BOUND(moved, other)"""


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
            **self.controls.named(),
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


def wire(
    engine: Engine, runs: gr.State, panel: Settings, note: gr.Markdown, preview: dict[str, Any]
) -> None:
    """``note`` goes with the built-in model; ``runs`` are the ids on show."""
    own = panel.controls
    panel.model.input(
        lambda name: gr.update(visible=name == BUILT_IN), panel.model, note, **AT_ONCE
    )

    def on_method(name: str) -> Changes:
        return controls.method_changes(own, name)

    columns = [column for _, column in own.groups]
    own.method.input(on_method, own.method, [own.ratio, *columns], **AT_ONCE)
    for button, share in zip(own.presets, PRESETS, strict=True):
        button.click(lambda share=share: share, None, own.ratio, **AT_ONCE)
    for key, switch in own.switches.items():
        switch.change(lambda on: gr.update(visible=not on), switch, own.fields[key], **AT_ONCE)
    paired = {widget for pair in own.pairs for widget in pair}
    free = [own.ratio, *own.fields.values(), *own.switches.values()]
    # A clip may be encoded for minutes: the preview of another one ends it at once.
    clip = [own.method.input, panel.model.input, panel.frames.release, panel.pixels.input]
    previews = [gr.on(clip, **preview, trigger_mode="multiple")]
    # A slider changes many times while it is dragged: only where it stands last is shown.
    preview = preview | {"trigger_mode": "always_last"}
    previews.append(gr.on([widget.change for widget in free if widget not in paired], **preview))
    for low, high in own.pairs:
        raised = _push(low.change, PUSH.replace("BOUND", "Math.max"), low, high)
        lowered = _push(high.change, PUSH.replace("BOUND", "Math.min"), high, low)
        previews += [raised.then(**preview), lowered.then(**preview)]
    for shown in previews:  # a number out of range is refused, and clamped once typing ends
        shown.failure(**preview)
    runs.change(_reading(engine, own), runs, list(own.readouts.values()), **AT_ONCE)


def _push(event: Any, script: str, moved: Any, other: Any) -> Any:
    """Where ``moved`` crosses ``other``, the other goes along."""
    return event(None, [moved, other], other, js=script, **UNSEEN)


def _reading(engine: Engine, own: controls.Controls) -> Callable[[list[str]], Changes]:
    """Writes what the clip made of the settings, from the run in charge."""

    def on_runs(ids: list[str]) -> Changes:
        run = engine.runs.get(ids[0]) if ids else None
        if run is None:
            return dict.fromkeys(own.readouts.values(), "")
        chosen = str(run.compressor["name"])
        if chosen not in COMPRESSORS:  # a chain of several
            return dict.fromkeys(own.readouts.values(), "")
        text = controls.readout(COMPRESSORS[chosen], run.compression.trace)
        return {line: text if name == chosen else "" for name, line in own.readouts.items()}

    return on_runs
