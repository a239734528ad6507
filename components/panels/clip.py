"""The clip: an example with its ready questions, or one's own from a file or the webcam.

Another clip clears the page of the one before, once it can be read. A file dropped anywhere on the
page is one's own; see ``assets/page/own_clip.js``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr

from gleanvid.types import StoppedError

from ..session.actions import uploads
from ..session.display import explain, message
from ..session.examples import Example, ready, thumbnail
from ..session.work.engine import Engine
from .shared import AT_ONCE, IN_LINE, UNSEEN, Changes, Previews, Shared, Values, owner

CHIPS_HTML = (
    """<div class="gv-chips gv-sideways" role="group" aria-label="Ready questions"></div>"""
)
CHIPS_JS = """
const list = element.querySelector(".gv-chips");
const show = () => list.replaceChildren(...(props.value || []).map(({ text, fails }) => {
  const chip = document.createElement("button");
  Object.assign(chip, { type: "button", className: "gv-chip" });
  chip.textContent = fails ? `Where it goes wrong: ${text}` : text;
  chip.addEventListener("click", () => trigger("pick", { text }));
  return chip;
}));
watch("value", show);
show();
"""
RECORD = "() => window.gvRecord()"
HELD = "(file) => window.gvClip(file?.path)"  # the page hears which clip its widget holds
CHOSEN = "() => window.gvClip(PATH)"  # at once: the widget follows


class Clip(NamedTuple):
    file: gr.File  # its value is the path of the clip
    upload: gr.UploadButton  # takes files of any type: we say ourselves what is wrong with one
    record: gr.Button
    examples: list[gr.Button]


def panel(examples: Sequence[Example]) -> Clip:
    """One picture for each example, and the ways to bring one's own."""
    with gr.Row(elem_classes=["gv-examples", "gv-sideways"]):
        buttons = [
            gr.Button(
                example.title,
                icon=thumbnail(example.path),
                size="sm",
                min_width=56,
                elem_id=f"gv-example-{example.path.name}",  # by which the page marks the one chosen
            )
            for example in examples
        ]
        upload = gr.UploadButton("Upload your own", size="sm", min_width=56, elem_id="gv-upload")
        record = gr.Button("Webcam", size="sm", min_width=56, elem_id="gv-webcam")
    first = str(examples[0].path) if examples else None
    file = gr.File(first, visible=False, elem_id="gv-clip")
    return Clip(file, upload, record, buttons)


def chips(questions: Sequence[dict[str, Any]]) -> gr.HTML:
    """What :func:`ready` gives; its event ``pick`` carries the text of a question."""
    value: Any = list(questions)
    return gr.HTML(
        value,
        apply_default_css=False,
        html_template=CHIPS_HTML,
        js_on_load=CHIPS_JS,
        elem_id="gv-ready",
    )


def wire(
    engine: Engine, shared: Shared, panel: Clip, examples: Sequence[Example], preview: Previews
) -> list[Any]:
    """The events that have shown the tokens of an example."""
    previews = []

    def on_clip() -> Changes:
        return {shared.ready: [], shared.notice: message()} | shared.cleared()

    def on_upload(user: gr.Request, values: Values) -> Iterator[Changes]:
        """The clip, its tokens and answers stay where the new one cannot be read."""
        path, frames = values[panel.upload], shared.request(shared.unpacked(values)).frames
        yield {shared.notice: message(uploads.READING)}
        try:
            uploads.read(engine, path, frames, owner(user))
        except StoppedError:  # another clip has taken over
            return
        except Exception as error:
            yield {shared.notice: message(explain(error), "problem")}
            return
        yield {panel.file: path, arrived: time.monotonic()} | on_clip()

    arrived = gr.State()  # when a clip of one's own was last read
    changed = [shared.ready, shared.notice, *shared.results]
    outputs = [panel.file, arrived, *changed]
    # A second clip may come while the first is read: it ends that.
    how: Any = {"trigger_mode": "multiple", **IN_LINE}
    over = shared.when(panel.upload.upload, on_upload, outputs, [panel.upload], **how)
    over.then(None, panel.file, None, js=HELD, **UNSEEN)
    preview(arrived.change, live=False)
    panel.record.click(None, None, shared.notice, js=RECORD, **UNSEEN)
    for button, example in zip(panel.examples, examples, strict=True):

        def on_example(user: gr.Request, example: Example = example) -> Changes:
            engine.pages.end_upload(owner(user))
            chosen = {panel.file: str(example.path), shared.question: example.question}
            return chosen | on_clip() | {shared.ready: ready(example)}

        script = CHOSEN.replace("PATH", json.dumps(shortened(example.path)))
        button.click(None, None, None, js=script, **UNSEEN)
        outputs = [panel.file, shared.question, *changed]
        previews.append(preview(button.click(on_example, None, outputs, **AT_ONCE).then))
    model = shared.settings["model"]

    def on_model(values: Values) -> Changes:
        """A recording comes with the questions that were asked."""
        recording = shared.recordings.get(values[model])
        if recording is None:
            return {shared.ready: ready(shared.examples.get(values[panel.file]))}
        asked = [{"text": text, "fails": False} for text in recording.questions]
        return {shared.ready: asked, shared.question: next(iter(recording.questions), "")}

    if shared.recordings:
        model.input(on_model, {model, panel.file}, [shared.question, shared.ready], **AT_ONCE)
    return previews


def shortened(path: str | Path) -> str:
    """As much of a path as tells two clips of one name apart."""
    return "/".join(Path(path).parts[-2:])
