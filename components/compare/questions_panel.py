"""The questions of a comparison: a list from a file, or those suggested for all clips."""

from __future__ import annotations

from pathlib import Path

import gradio as gr

from gleanvid.errors import MALFORMED

from ..jobs.display import message
from ..widgets import notice
from ..widgets.events import AT_ONCE, Changes, Values
from ..widgets.panel import Page, Panel

Listed = list[tuple[str, str, str]]  # question, right answer and path of the clip

MOST = 16  # maximum number of questions: each adds runs to the store of runs, which is bounded
FILE_BYTES = 1_000_000
HINT = "A list has the columns clip, question, options and answer, as CSV or JSON."
ASKED = "Compare asks {count} questions about {clips}, in place of the question above."
NONE_HERE = "The file has no question about the clips on this page. Upload its clips first."
TOO_LARGE = "This file is too large for a list of questions."


class QuestionsPanel(Panel):
    """Chooses a comparison's questions; ``listed``: its state, empty for the one in the box."""

    def __init__(self) -> None:
        self.listed = gr.State([])
        with gr.Row(elem_id="gv-listing"):
            self.file = gr.UploadButton("Questions from a file", size="sm", elem_id="gv-list-file")
            self.every = gr.Button("Suggested questions of all clips", size="sm")
            self.none = gr.Button("Ask the question above", size="sm")
        self.notice = notice.panel(HINT)

    def connect(self, page: Page) -> None:
        self.page = page
        chosen = {page.inputs.settings["clip"], page.inputs.shelf}
        filled = [self.listed, self.notice]
        self.every.click(self.on_every, None, filled, **AT_ONCE)
        self.file.upload(self.on_file, {*chosen, self.file}, filled, **AT_ONCE)
        self.none.click(lambda: ([], message(HINT)), None, filled, **AT_ONCE)

    def filled(self, listed: Listed) -> Changes:
        clips = len({path for *_, path in listed})
        text = ASKED.format(count=len(listed), clips="1 clip" if clips == 1 else f"{clips} clips")
        return {self.listed: listed, self.notice: message(text)}

    def on_every(self) -> Changes:
        """List questions with known answers, equally many of each example."""
        known = [example for example in self.page.examples if example.questions]
        each = MOST // max(1, len(known))
        listed: Listed = []
        for example in known:
            step = max(1, len(example.questions) // each)
            chosen = example.questions[::step][:each]
            listed += [(question, answer, str(example.path)) for question, answer in chosen]
        return self.filled(listed)

    def on_file(self, values: Values) -> Changes:
        """List the questions of a file about clips on the page; a bad file gives a message."""
        # Imports transformers, for which the first page must not wait.
        from gleanvid.evaluation.benchmarks.own_list import OwnList

        path = Path(values[self.file])
        try:
            if path.stat().st_size > FILE_BYTES:
                raise ValueError(TOO_LARGE)
            items = OwnList(questions=str(path)).every()
        except MALFORMED as error:
            return {self.notice: message(str(error), "problem")}
        clips = self.clips(values)
        found = [
            (item.question, item.right_option, clips[name])
            for item in items
            if (name := Path(item.clip).name) in clips
        ]
        if not found:
            return {self.notice: message(NONE_HERE, "problem")}
        return self.filled(sorted(found[:MOST], key=lambda row: row[2]))

    def clips(self, values: Values) -> dict[str, str]:
        """Return the path of every clip on the page by its file name."""
        chosen = values[self.page.inputs.settings["clip"]]
        examples = (str(example.path) for example in self.page.examples)
        paths = [*examples, *values[self.page.inputs.shelf], chosen]
        return {Path(path).name: path for path in paths if path}
