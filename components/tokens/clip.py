"""The panel to choose a clip: an example or an uploaded file.

A new clip replaces the previous clip and its answers as soon as the new one has been read. A file
dropped anywhere on the page counts as an upload; see ``assets/page/own_clip.js``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr

from ..jobs.display import Message, PageUpdate, message, status
from ..jobs.examples import Example, model_for, models_for, ready, thumbnail
from ..jobs.job import READING, Job, read
from ..jobs.pages import UPLOAD
from ..jobs.request import NO_CLIP
from ..models.served import served_method
from ..widgets import thumbnails
from ..widgets.events import AT_ONCE, PRIVATE, QUEUED, Changes, Values, part, script
from ..widgets.page_state import owner
from ..widgets.panel import Page, Panel

STOPPED = "Stopped. Upload the file again, or choose another clip."
SHELF = """<div class="gv-shelf" role="group" aria-label="Your clips"></div>"""
SHELVED = 6  # maximum number of thumbnails of uploaded clips; older ones are dropped
QUESTIONS = """<div class="gv-chips" role="group" aria-label="Ready questions"></div>"""


class ClipPanel(Panel):
    """One thumbnail for each example clip, and the button to upload a clip.

    Attributes:
        file: widget whose value is the path of the chosen clip.
        upload: upload button. It accepts every file type: our own error message is clearer than
            Gradio's.
    """

    def __init__(self, examples: Sequence[Example]) -> None:
        self.examples = examples
        with gr.Row(elem_classes=["gv-examples"]):
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
        first = str(examples[0].path) if examples else None
        self.file = gr.File(first, visible=False, elem_id="gv-clip")
        self.wanted = gr.Textbox(visible=False)  # folder and name of the example that was pressed
        self.own = gr.State({})  # path -> thumbnail of each uploaded clip, newest last

    def linked(self) -> dict[str, Any]:
        return {"clip": self.file}

    def connect(self, page: Page) -> None:
        self.page = page
        outputs = page.outputs
        self.model, self.method = (page.inputs.settings[key] for key in ("model", "compressor"))
        # lines of text that change when another clip is chosen
        self.lines = [outputs.ready, outputs.notice, outputs.status]
        self.tried = gr.State({})  # path of an earlier clip -> ids of its runs
        # Time at which an upload was last read; its change starts a preview.
        self.arrived = gr.State()
        inputs: set[Any] = {self.model, self.method, self.file, outputs.runs, self.tried}
        inputs |= {self.own, page.inputs.question}
        changed = [self.file, page.inputs.question, self.tried, self.model, self.method]
        changed += [*self.lines, *outputs.results, *outputs.buttons]
        # Start a second upload without waiting for the first: it ends the reading of the first.
        how: Any = {"trigger_mode": "multiple", **QUEUED}
        read = [*changed, self.arrived, self.shelf, self.own]
        over = page.inputs.when(
            self.upload.upload, self.on_upload, read, {*inputs, self.upload}, **how
        )
        over.then(None, self.file, None, js=script("holdClip"), **PRIVATE)
        page.preview.after(self.arrived.change, live=False)
        # One event for all examples: every event slows the opening of the page.
        if self.buttons:
            pressed = partial(gr.on, [button.click for button in self.buttons])
            named = pressed(None, None, self.wanted, js=script("chooseExample"), **PRIVATE)
            also = {*inputs, self.wanted}
            clicked = page.inputs.when(named.then, self.on_example, changed, also, **AT_ONCE)
            page.preview.after(clicked.success)
        picked = self.shelf.pick(self.on_shelf, inputs, changed, **AT_ONCE)
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
        outputs, engine = self.page.outputs, self.page.engine
        values = self.page.inputs.read(values)
        begun = PageUpdate(message(READING), pending=READING)
        yield outputs.changes(begun) | outputs.working(True, self.page.preview.stop)
        work = engine.pages.begin(owner(user), UPLOAD)
        job = Job(engine, owner(user), self.page.inputs.request(values), begun=work)

        def last(notice: Message) -> Changes:
            shown = {outputs.notice: notice, outputs.viewer: gr.update(pending="")}
            return shown | outputs.working(False)

        yield from job.run(self.read(job, values), last, STOPPED)

    def read(self, job: Job, values: Values) -> Iterator[Changes]:
        outputs, path, frames = self.page.outputs, values[self.upload], job.request.frames
        if not path:
            raise ValueError(NO_CLIP)
        for text in read(job.engine, path, frames, job.work):
            yield outputs.changes(PageUpdate(message(text), pending=text))
        picture = thumbnails.thumbnail(job.engine.clip(path, frames).frames[0])
        others = [(known, seen) for known, seen in values[self.own].items() if known != path]
        yield (
            outputs.working(False)
            | {self.arrived: time.monotonic()}
            | self.shelf_of(dict([*others, (path, picture)][-SHELVED:]))
            | self.shown(path, self.page.inputs.example(path), self.asked(values), values)
        )

    def shown(
        self, path: str, example: Example | None, question: str | None, values: Values
    ) -> Changes:
        """Return the changes that show another clip, with its earlier runs, a model and a method.

        ``example``: the clip, if it is an example. ``question``: None keeps the one in the box.
        """
        asked = {} if question is None else {self.page.inputs.question: question}
        chosen = {self.file: path} | asked | self.cleared() | self.returning(path, values)
        suited = {self.model: values[self.model]} | self.suited(values, example)
        suited[self.model] = gr.update(value=suited[self.model], choices=self.models(example))
        return chosen | suited | {self.page.outputs.ready: ready(example)}

    def models(self, example: Example | None) -> Any:
        return models_for(example, self.model.choices)

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
        return self.ready_again(user) | self.shown(
            path, self.page.inputs.example(path), self.asked(values), values
        )

    def ready_again(self, user: gr.Request) -> Changes:
        """Stop reading an upload because another clip was chosen.

        If an upload was being read, return the changes that enable the buttons again.
        """
        pages = self.page.engine.pages
        was_reading = pages.has(owner(user), UPLOAD)
        pages.end(owner(user), UPLOAD)
        return self.page.outputs.working(False) if was_reading else {}

    def asked(self, values: Values) -> str | None:
        """Return None to keep the typed question for an uploaded clip; "" for a suggested one."""
        question = values[self.page.inputs.question]
        ready = {example.question for example in self.examples}
        ready |= {text for example in self.examples for text, _ in example.questions}
        return "" if question in ready else None

    def on_example(self, user: gr.Request, values: Values) -> Changes:
        """Choose the example whose button was pressed."""
        known = {shortened(example.path): example for example in self.examples}
        if values[self.wanted] not in known:
            return gr.skip()
        example = known[values[self.wanted]]
        shown = self.shown(str(example.path), example, example.question, values)
        return self.ready_again(user) | shown

    def on_model(self, values: Values) -> Changes:
        """Suggest the questions that a recording answers; for other models, those of the clip."""
        inputs, offered = self.page.inputs, self.page.outputs.ready
        recording = inputs.recordings.get(values[self.model])
        if recording is None:
            return {offered: ready(inputs.example(values[self.file]))}
        return {
            offered: list(recording.questions),
            inputs.question: next(iter(recording.questions), ""),
        }


def shelf(own: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the value of the row of thumbnails of uploaded clips."""
    return [{"clip": shortened(path), "picture": picture} for path, picture in own.items()]


def questions(offered: Sequence[str]) -> Any:
    """Make the row of buttons with suggested questions.

    ``offered``: the questions as :func:`ready` returns them. A click on a button triggers the event
    ``pick`` with the text of the question.
    """
    return part("questions", QUESTIONS, list(offered), "pick", elem_id="gv-ready")


def shortened(path: str | Path) -> str:
    """Return the end of a path, long enough to distinguish two clips with the same file name."""
    return "/".join(Path(path).parts[-2:])
