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
from ..session.engine import Engine
from ..session.request import NEW_TOKENS, SEEDS
from . import controls, habits
from .shared import AT_ONCE, UNSEEN, Changes, Previews, Shared

FRAMES = (4, 32)  # least and default number of sampled frames
PIXELS = {  # most pixels of a frame, as the model sees it
    "The model's own limit": 0,
    "640 × 640": 640 * 640,
    "448 × 448": 448 * 448,
    "320 × 320": 320 * 320,
    "224 × 224": 224 * 224,
    "160 × 160": 160 * 160,
}
CLIP = "Any video or GIF, up to {size} MB."
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


def model(models: Sequence[tuple[str, str]]) -> gr.Dropdown:
    """``models`` are (label, name) pairs, the first one chosen."""
    return gr.Dropdown(
        list(models), value=models[0][1], label="Model", interactive=True, elem_id="gv-model"
    )


def panel(
    methods: controls.Methods, start: str, ratio: float, model: gr.Dropdown, limits: Limits
) -> tuple[Settings, habits.Habits]:
    """``start`` and ``ratio``: what stands first; ``model``: the widget of :func:`model`."""
    gr.Markdown("## Tune B", elem_classes="gv-heading")
    method = controls.choice(methods, start)
    share = controls.budget(methods[start], ratio)
    in_the_open = controls.in_the_open(methods, start)
    refused = controls.problem()
    live = habits.live()
    with gr.Accordion("More settings", open=False):
        folded = controls.more(methods, start)
        gr.Markdown(f"### Clip\n{CLIP.format(size=limits.upload_mb)}", elem_classes="gv-heading")
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
        gr.Markdown("### Answer", elem_classes="gv-heading")
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
    own = controls.Controls(method, share, [in_the_open, folded], refused)
    return Settings(model, frames, pixels, seed, own, *sampled), asks


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

    def on_method(name: str) -> Changes:
        return controls.chosen_method(own, name)

    columns = [column for _, column in own.groups]
    own.method.input(on_method, own.method, [own.ratio, *columns], **AT_ONCE)
    for key, switch in own.switches.items():
        switch.change(lambda on: gr.update(visible=not on), switch, own.fields[key], **AT_ONCE)
    # A clip may be encoded for minutes: the preview of another one ends it at once.
    clip = [own.method.input, panel.model.input, panel.frames.release, panel.pixels.input]
    previews = [preview(partial(gr.on, clip))]
    for moved in previewed(panel):
        shared.noted(partial(gr.on, [widget.change for widget in moved]), moved)
    for low, high in own.pairs:
        raised = _push(low.input, PUSH.replace("BOUND", "Math.max"), low, high)
        lowered = _push(high.input, PUSH.replace("BOUND", "Math.min"), high, low)
        for pushed in (raised, lowered):
            shared.noted(pushed.then, [low, high])
    # A slider changes many times while it is dragged; a newer preview ends the one before.
    previews.append(preview.of_moves())
    viewer: Any = shared.viewer
    viewer.show(_reading(engine, own), shared.runs, list(own.readouts.values()), **AT_ONCE)
    return previews


def previewed(panel: Settings) -> list[list[Any]]:
    """Widgets whose every change is followed by a preview, whoever made it; a method's together.

    Pairs are not among them: one of the two may wait for the other to be pushed.
    """
    own = panel.controls
    words = [panel.seed, panel.temperature, panel.top_p, panel.new_tokens]  # other answers
    paired = {widget for pair in own.pairs for widget in pair}
    methods = ([widget for widget in held if widget not in paired] for held in own.by_method)
    return [[own.ratio, *words], *filter(None, methods)]


def _push(event: Any, script: str, moved: Any, other: Any) -> Any:
    """Where a hand moves ``moved`` across ``other``, the other goes along.

    What a link or a run of before brings is a pair already; its values come one by one.
    """
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
        text = controls.readout(COMPRESSORS[chosen], run.compression)
        return {line: text if name == chosen else "" for name, line in own.readouts.items()}

    return on_runs
