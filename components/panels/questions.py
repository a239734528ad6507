"""The questions of a comparison: typed, suggested for the clip, or read from a file."""

from __future__ import annotations

from pathlib import Path

import gradio as gr

from ..session.actions.questions import FILE_BYTES, Listed, in_file, in_lines, of_clips
from ..session.display import message
from ..session.request import LONGEST
from .events import AT_ONCE, Changes, Values
from .panel import Page, Panel

MOST = 16  # maximum number of questions: each adds runs to the store of runs, which is bounded
HINT = (
    "One question per line. Questions of other clips and of a file keep their clip and their right "
    "answer. If the box is empty, the question above is asked."
)
TOO_MANY = f"{{count}} questions; the limit is {MOST}. Ask fewer."
FIRST = f"The box has the first {MOST} of {{count}} questions that the file has about these clips."
NONE_HERE = (
    "The file has no question about these clips. Write one question per line, or choose a "
    "questions.jsonl that gleanvid glimpse make wrote, and upload a clip from the same folder."
)
RECORDED = "A recording answers about its own clip only: leave out questions about other clips."
UNREADABLE = "This file could not be read as text with questions."


class QuestionsPanel(Panel):
    """The list of questions.

    ``box``: the text box that holds them, one on each line. ``known``: the questions last put into
    the box, with their right answers and clips.
    """

    def __init__(self) -> None:
        self.box = gr.Textbox(
            label="Questions",
            info=HINT,
            lines=1,
            max_lines=8,
            max_length=LONGEST,
            interactive=True,
            elem_id="gv-questions",
        )
        self.known = gr.State([])
        with gr.Row(elem_id="gv-listing"):
            self.ready = gr.Button("Use all suggested questions", size="sm", min_width=140)
            self.every = gr.Button("Suggested questions of all clips", size="sm", min_width=170)
            self.file = gr.UploadButton(
                "Questions from a file", size="sm", min_width=140, elem_id="gv-question-file"
            )

    def tell_in(self, notice: gr.HTML) -> None:
        """Use ``notice`` as the line for messages about a file of questions."""
        self.notice = notice

    def connect(self, page: Page) -> None:
        self.page, self.clip = page, page.inputs.settings["clip"]
        self.shelf = page.inputs.shelf
        self.ready.click(self.on_ready, {self.clip}, self.box, **AT_ONCE)
        chosen, filled = {self.clip, self.shelf}, [self.box, self.known]
        self.every.click(self.on_every, chosen, filled, **AT_ONCE)
        self.file.upload(self.on_file, {*chosen, self.file}, [*filled, self.notice], **AT_ONCE)

    def on_ready(self, values: Values) -> str:
        """Fill the box with the suggested questions of the clip."""
        example = self.page.inputs.examples.get(values[self.clip] or "")
        return "\n".join(text for text, _ in (example.questions if example else ()))

    def on_every(self, values: Values) -> Changes:
        """Fill the box with suggested questions of all clips, equally many about each clip."""
        paths = dict.fromkeys(self.clips(values).values())
        known = [example for path in paths if (example := self.page.inputs.examples.get(path))]
        return self.filled(of_clips([example for example in known if example.questions], MOST))

    def filled(self, listed: Listed) -> Changes:
        return {self.box: "\n".join(text for text, *_ in listed), self.known: listed}

    def clips(self, values: Values) -> dict[str, str]:
        """Return name -> path of every clip, the chosen clip first.

        A name is a file name or, for examples, also the title.
        """
        examples = (str(example.path) for example in self.page.examples)
        paths = filter(None, [values[self.clip], *examples, *values[self.shelf]])
        found: dict[str, str] = {}
        for path in paths:
            found.setdefault(Path(path).name, path)
        for example in self.page.examples:
            found.setdefault(example.title, str(example.path))
        return found

    def on_file(self, values: Values) -> Changes:
        """Fill the box with the questions of a file; skip those about clips not on the page."""
        try:
            with open(values[self.file], "rb") as file:
                text = file.read(FILE_BYTES).decode("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            return {self.notice: message(UNREADABLE, "problem")}
        found = in_file(text, self.clips(values))
        if not found:
            return {self.notice: message(NONE_HERE, "problem")}
        left = message(FIRST.format(count=len(found)) if len(found) > MOST else "")
        return self.filled(found[:MOST]) | {self.notice: left}

    def listed(self, values: Values) -> Listed:
        """Return the questions, grouped by clip, each with the path of its clip."""
        found, clips = in_lines(values[self.box] or "", values[self.known]), self.clips(values)
        own, order = values[self.clip] or "", list(clips.values())
        rows = [(text, truth, clips.get(name, own)) for text, truth, name in found]
        return sorted(rows, key=lambda row: order.index(row[2]) if row[2] in order else 0)

    def refusal(self, values: Values, is_recording: bool) -> str:
        """Return why the questions in the box cannot be asked, as a sentence; "" if they can."""
        found = self.listed(values)
        if len(found) > MOST:
            return TOO_MANY.format(count=len(found))
        others = {path for *_, path in found} - {values[self.clip] or ""}
        return RECORDED if is_recording and others else ""
