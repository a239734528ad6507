"""The panel to choose a clip: an example, an uploaded file or a webcam recording.

A new clip replaces the previous clip and its answers as soon as the new one has been read. A file
dropped anywhere on the page counts as an upload; see ``assets/page/own_clip.js``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from gleanvid.types import StoppedError, VideoError

from ..session.actions import uploads
from ..session.actions.ahead import encode_ahead
from ..session.actions.first import First
from ..session.display import READING, PageUpdate, explain, message, status
from ..session.examples import Example, model_for, ready, thumbnail
from ..session.request import pinned_settings
from ..session.work.queue import BusyError, Work
from .events import AT_ONCE, PRIVATE, QUEUED, Changes, Values, part, script
from .page_state import owner
from .panel import Page, Panel
from .served import served_method

STOPPED = "Stopped. Upload the file again, or choose another clip."
SAVED = "Saved result. Changing a setting runs the model again."
SHELF = """<div class="gv-shelf" role="group" aria-label="Your clips"></div>"""
SHELVED = 6  # maximum number of thumbnails of uploaded clips; older ones are dropped
QUESTIONS = """<div class="gv-chips gv-sideways" role="group" aria-label="Ready questions"></div>"""


class ClipPanel(Panel):
    """One thumbnail for each example clip, and the buttons to upload or record a clip.

    Attributes:
        file: widget whose value is the path of the chosen clip.
        upload: upload button. It accepts every file type: our own error message is clearer than
            Gradio's.
        saved: the saved results of each example, by path.
    """

    def __init__(self, examples: Sequence[Example], saved: Mapping[str, First]) -> None:
        self.examples, self.saved = examples, saved
        with gr.Row(elem_classes=["gv-examples", "gv-sideways"]):
            self.buttons = [
                gr.Button(
                    example.title,
                    icon=thumbnail(example.path),
                    size="sm",
                    min_width=56,
                    elem_id=f"gv-example-{example.path.name}",  # id to mark the chosen example
                )
                for example in examples
            ]
            self.shelf = part("shelf", SHELF, [], "pick", elem_id="gv-shelf")
            self.upload = gr.UploadButton(
                "Upload a clip", size="sm", min_width=56, elem_id="gv-upload"
            )
            self.record = gr.Button("Webcam", size="sm", min_width=56, elem_id="gv-webcam")
        first = str(examples[0].path) if examples else None
        self.file = gr.File(first, visible=False, elem_id="gv-clip")
        self.own = gr.State({})  # path -> thumbnail of each uploaded clip, newest last

    def linked(self) -> dict[str, Any]:
        return {"clip": self.file}

    def connect(self, page: Page) -> None:
        self.page = page
        outputs = page.outputs
        self.model, self.method = (page.inputs.settings[key] for key in ("model", "compressor"))
        # lines of text that change when another clip is chosen
        self.lines = [outputs.ready, outputs.notice, outputs.status]
        changed = [self.model, self.method, *self.lines, *outputs.results]
        # time at which an upload was last read; its change starts a preview
        self.arrived = gr.State()
        self.tried = gr.State({})  # path of an earlier clip -> ids of its runs
        # False: saved results are shown, no preview needed
        self.is_unknown = gr.Checkbox(True, visible=False)
        # Start a second upload without waiting for the first: it ends the reading of the first.
        how: Any = {"trigger_mode": "multiple", **QUEUED}
        over = page.inputs.when(
            self.upload.upload,
            self.on_upload,
            [
                *(self.file, self.arrived, self.shelf, self.own, self.tried, page.inputs.question),
                *(*changed, *outputs.buttons),
            ],
            [self.upload, self.own, self.tried],
            **how,
        )
        over.then(None, self.file, None, js=script("holdClip"), **PRIVATE)
        page.preview.after(self.arrived.change, live=False)
        self.record.click(None, None, outputs.notice, js=script("record"), **PRIVATE)
        left: set[Any] = {self.model, self.method, self.file, outputs.runs, self.tried}
        left.add(page.inputs.question)
        chosen = [self.file, page.inputs.question, self.tried, *changed, *outputs.buttons]
        for button, example in zip(self.buttons, self.examples, strict=True):
            mark = script("chooseExample", shortened(example.path))
            button.click(None, None, None, js=mark, **PRIVATE)
            of_example = [*chosen, self.is_unknown]
            clicked = page.inputs.when(
                button.click, self.on_example(example), of_example, left, **AT_ONCE
            )
            page.preview.after(clicked.then, when=self.is_unknown)
        picked = self.shelf.pick(self.on_shelf, {*left, self.own}, chosen, **AT_ONCE)
        page.preview.after(picked.success, live=False)
        if page.inputs.recordings:
            asked = [page.inputs.question, outputs.ready]
            self.model.input(self.on_model, {self.model, self.file}, asked, **AT_ONCE)

    def cleared(self) -> Changes:
        outputs, now = self.page.outputs, status(self.page.engine)
        lines = {outputs.ready: [], outputs.notice: message(), outputs.status: now}
        return lines | outputs.cleared()

    def on_upload(self, user: gr.Request, values: Values) -> Iterator[Changes]:
        """Read the uploaded clip. If that fails, the previous clip stays with its answers."""
        inputs, outputs = self.page.inputs, self.page.outputs
        values = inputs.read(values)
        path, frames = values[self.upload], inputs.request(values).frames
        begun = PageUpdate(message(READING), pending=READING)
        yield outputs.changes(begun) | outputs.working(True, self.page.preview.stop)
        own = values[self.own]
        over = outputs.working(False) | {outputs.viewer: gr.update(pending="")}
        try:
            for text in uploads.read(self.page.engine, path, frames, owner(user)):
                yield outputs.changes(PageUpdate(message(text), pending=text))
            video = self.page.engine.clip(path, frames)
        except StoppedError as stopped:
            if why := str(stopped):  # an empty reason means that another clip was chosen
                text = STOPPED if why == Work.BY_HAND else why
                yield {outputs.notice: message(text), self.shelf: shelf(own)} | over
            return
        except Exception as error:
            problem = message(explain(error), "problem")
            yield {outputs.notice: problem, self.shelf: shelf(own)} | over
            return
        yield (
            outputs.working(False)
            | {self.file: path, self.arrived: time.monotonic()}
            | self.shelved(path, uploads.thumbnail(video.frames[0]), own)
            | self.cleared()
            | self.returning(path, values)
            | self.asked(values)
            | self.suited(values)
        )

    def shelved(self, path: str, picture: str, own: Mapping[str, str]) -> Changes:
        """Add an uploaded clip to the row of thumbnails.

        ``own``: path -> thumbnail of the clips already in the row.
        """
        others = [(known, seen) for known, seen in own.items() if known != path]
        return self.shelf_of(dict([*others, (path, picture)][-SHELVED:]))

    def shelf_of(self, own: Mapping[str, str]) -> Changes:
        return {self.own: dict(own), self.shelf: shelf(own)}

    def suited(self, values: Values, example: Example | None = None) -> Changes:
        """Change to the model for a clip (:func:`model_for`) and to a method that it can run."""
        chosen, offered = values[self.model], [name for _, name in self.model.choices]
        model, method = model_for(example, chosen, offered), values[self.method]
        changes = {} if model == chosen else {self.model: model}
        served = served_method(model, method)
        return changes if served == method else {**changes, self.method: served}

    def returning(self, path: str, values: Values) -> Changes:
        """Store the run ids of the previous clip, and restore those of the new clip, if any."""
        runs, tried = self.page.outputs.runs, dict(values[self.tried])
        if values[self.file] and values[runs]:
            tried[values[self.file]] = values[runs]
        return {self.tried: tried, runs: tried.get(path, [])}

    def on_shelf(self, user: gr.Request, event: gr.EventData, values: Values) -> Changes:
        """Choose the uploaded clip whose thumbnail was clicked, and restore its earlier runs."""
        place, paths = getattr(event, "place", None), list(values[self.own])
        if not isinstance(place, int) or not 0 <= place < len(paths):
            return gr.skip()
        path = paths[place]
        chosen = {self.file: path} | self.ready_again(user) | self.cleared()
        return chosen | self.returning(path, values) | self.asked(values) | self.suited(values)

    def ready_again(self, user: gr.Request) -> Changes:
        """Stop reading an upload because another clip was chosen.

        If an upload was being read, return the changes that enable the buttons again.
        """
        pages = self.page.engine.pages
        was_reading = pages.is_reading(owner(user))
        pages.end_upload(owner(user))
        return self.page.outputs.working(False) if was_reading else {}

    def asked(self, values: Values) -> Changes:
        """Clear the question box for a new clip, if its question was suggested for an example.

        A question that the visitor typed stays.
        """
        question = self.page.inputs.question
        ready = {example.question for example in self.examples}
        ready |= {text for example in self.examples for text, _ in example.questions}
        return {question: ""} if values[question] in ready else {}

    def on_example(self, example: Example) -> Callable[[gr.Request, Values], Changes]:
        def choose(user: gr.Request, values: Values) -> Changes:
            path = str(example.path)
            chosen: Changes = {self.file: path, self.page.inputs.question: example.question}
            changes = chosen | self.ready_again(user) | self.cleared()
            suited = self.suited(values, example)
            changes |= self.returning(path, values) | suited | {self.is_unknown: True}
            changes[self.page.outputs.ready] = ready(example)
            if path in values[self.tried]:
                return changes
            standing = {**self.page.inputs.read(values), self.file: path, **suited}
            return changes | self.made_before(example, standing)

        return choose

    def made_before(self, example: Example, values: Values) -> Changes:
        """Return the saved results of an example if they match the settings of the page."""
        inputs, outputs, engine = self.page.inputs, self.page.outputs, self.page.engine
        saved = self.saved.get(str(example.path), First())
        request = inputs.request(values)
        if not saved.fits(request, pinned_settings(values[inputs.pinned], request.model)):
            return {}
        try:
            value = saved.opened(engine, example)
            now = status(engine, engine.runs.get(saved.runs[0]))
            encode_ahead(engine, request.clip(engine.clip(str(example.path), request.frames)))
        except (VideoError, BusyError):
            return {}  # the preview that follows shows the error
        return {
            outputs.viewer: gr.update(version=0, value=value, answers=saved.answers, pending=""),
            outputs.runs: saved.runs,
            outputs.notice: message(SAVED),
            outputs.status: now,
            self.is_unknown: False,
        }

    def on_model(self, values: Values) -> Changes:
        """Suggest the questions that a recording answers; for other models, those of the clip."""
        inputs, offered = self.page.inputs, self.page.outputs.ready
        recording = inputs.recordings.get(values[self.model])
        if recording is None:
            return {offered: ready(inputs.examples.get(values[self.file]))}
        asked = [{"text": text, "fails": False} for text in recording.questions]
        return {offered: asked, inputs.question: next(iter(recording.questions), "")}


def shelf(own: Mapping[str, str]) -> dict[str, Any]:
    """Return a new value for the row of thumbnails of uploaded clips.

    A new value makes the browser redraw the row, without the placeholder of a failed upload.
    """
    clips = [{"clip": shortened(path), "picture": picture} for path, picture in own.items()]
    return {"clips": clips, "at": time.monotonic()}


def questions(offered: Sequence[dict[str, Any]]) -> Any:
    """Make the row of buttons with suggested questions.

    ``offered``: the questions as :func:`ready` returns them. A click on a button triggers the event
    ``pick`` with the text of the question.
    """
    return part("questions", QUESTIONS, list(offered), "pick", elem_id="gv-ready")


def shortened(path: str | Path) -> str:
    """Return the end of a path, long enough to distinguish two clips with the same file name."""
    return "/".join(Path(path).parts[-2:])
