"""The clip: upload one, or take an example with its ready questions.

Another clip clears the page of the one before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import gradio as gr

from components.panels.player import Player
from components.panels.shared import AT_ONCE, Changes, Shared
from components.session.examples import Example, ready, thumbnail

LIMITS = (
    "MP4, MOV, MKV, AVI, WebM · up to {size} MB, 6 hours, 8K. At most {frames} frames are used, "
    "spread evenly over the clip; sound is not."
)
CHIPS_HTML = """<div class="gv-chips" role="group" aria-label="Ready questions"></div>"""
CHIPS_JS = """
const list = element.querySelector(".gv-chips");
const show = () => list.replaceChildren(...(props.value || []).map((text) => {
  const chip = Object.assign(document.createElement("button"), {
    type: "button", className: "gv-chip", textContent: text,
  });
  chip.addEventListener("click", () => trigger("pick", { text }));
  return chip;
}));
watch("value", show);
show();
"""


class Clip(NamedTuple):
    video: gr.Video
    examples: list[gr.Button]
    ready: gr.HTML  # its event ``pick`` carries the text of a question


def panel(examples: Sequence[Example], max_mb: int, max_frames: int) -> Clip:
    """A player that takes uploads, and one button with a picture for each example."""
    video = Player(
        value=str(examples[0].path) if examples else None,
        label="Clip",
        show_label=False,
        sources=["upload"],
        height=180,
        interactive=True,
        buttons=[],
        elem_id="gv-clip",
    )
    gr.Markdown(LIMITS.format(size=max_mb, frames=max_frames), elem_classes="gv-hint")
    with gr.Row(elem_classes="gv-examples"):
        buttons = [
            gr.Button(example.title, icon=thumbnail(example.path), size="sm", min_width=90)
            for example in examples
        ]
    first = ready(examples[0]) if examples else []
    return Clip(video, buttons, chips(first))


def chips(texts: Sequence[str]) -> gr.HTML:
    return gr.HTML(
        list(texts),
        apply_default_css=False,
        html_template=CHIPS_HTML,
        js_on_load=CHIPS_JS,
        elem_id="gv-ready",
    )


def wire(shared: Shared, panel: Clip, examples: Sequence[Example], preview: dict[str, Any]) -> None:
    def on_clip() -> Changes:
        return {panel.ready: []} | shared.cleared()

    changed = [panel.ready, *shared.results]
    panel.video.upload(on_clip, None, changed, **AT_ONCE).then(**preview)
    panel.video.clear(on_clip, None, changed, **AT_ONCE)
    for button, example in zip(panel.examples, examples, strict=True):

        def on_example(example: Example = example) -> Changes:
            chosen = {panel.video: str(example.path), shared.question: example.question}
            return chosen | {panel.ready: ready(example)} | shared.cleared()

        outputs = [panel.video, shared.question, *changed]
        button.click(on_example, None, outputs, **AT_ONCE).then(**preview)
