"""The list of questions of a comparison: typed, those of the clip, or those of a file."""

from __future__ import annotations

from pathlib import Path

import gradio as gr

from ..session.actions.questions import FILE_BYTES, as_lines, in_file, in_lines
from ..session.display import message
from ..session.request import LONGEST
from .events import AT_ONCE, Changes, Values
from .panel import Page, Panel

MOST = 16  # each is a run for every row, and the store of all visitors is bounded
HINT = "Empty: the question above. Else one a line, a right answer after |"
TOO_MANY = f"{{count}} questions; the limit is {MOST}. Ask fewer."
FIRST = f"The first {MOST} of {{count}} questions in the file."
NONE_HERE = (
    "No question of this clip in the file. Give one a line, a right answer after |, or the "
    "questions.jsonl of gleanvid glimpse make with a clip of the same folder."
)
UNREADABLE = "This file could not be read as text with questions."


class QuestionsPanel(Panel):
    """``box``: the questions as text, one a line."""

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
        with gr.Row(elem_id="gv-listing"):
            self.ready = gr.Button("All ready questions", size="sm", min_width=140)
            self.file = gr.UploadButton(
                "Questions from a file", size="sm", min_width=140, elem_id="gv-question-file"
            )

    def tell_in(self, notice: gr.HTML) -> None:
        """Say in this line what of a file was taken."""
        self.notice = notice

    def connect(self, page: Page) -> None:
        self.page, self.clip = page, page.inputs.settings["clip"]
        self.ready.click(self.on_ready, {self.clip}, self.box, **AT_ONCE)
        chosen = {self.clip, self.file}
        self.file.upload(self.on_file, chosen, [self.box, self.notice], **AT_ONCE)

    def on_ready(self, values: Values) -> str:
        """Put the questions that the clip comes with into the box."""
        example = self.page.inputs.examples.get(values[self.clip] or "")
        return as_lines([(text, None) for text, _ in (example.questions if example else ())])

    def on_file(self, values: Values) -> Changes:
        """Put the questions of a file into the box, those of this clip where it names clips."""
        try:
            text = Path(values[self.file]).read_bytes()[:FILE_BYTES].decode("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            return {self.notice: message(UNREADABLE, "problem")}
        found = in_file(text, values[self.clip] or "")
        if not found:
            return {self.notice: message(NONE_HERE, "problem")}
        left = message(FIRST.format(count=len(found)) if len(found) > MOST else "")
        return {self.box: as_lines(found[:MOST]), self.notice: left}

    def listed(self, values: Values) -> list[tuple[str, str | None]]:
        """Return the questions with their right answers, where known."""
        found = in_lines(values[self.box] or "")
        if len(found) > MOST:
            raise gr.Error(TOO_MANY.format(count=len(found)), print_exception=False)
        return found
