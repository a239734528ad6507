"""The tab Export and API: files of the runs shown, code that reproduces run B, endpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from gleanvid.compressors import METHODS
from gleanvid.run import Run

from ..jobs.diagnosed import GONE, diagnosed_runs
from ..jobs.display import explain, message, short_name, status
from ..jobs.engine import Engine
from ..jobs.examples import ready
from ..jobs.methods import can_answer
from ..jobs.pages import UPLOAD
from ..jobs.request import Sides
from ..server.visitors import visitor
from ..tokens.answers import answers
from ..tokens.sides import TokensTab, as_pinned
from ..viewer.payload import payload
from ..widgets import notice
from ..widgets.events import AT_ONCE, PRIVATE, Changes, Values, mounted, script
from ..widgets.page_state import Inputs, owner
from ..widgets.panel import Page, Tab
from . import exports, opening, snippets, take_away
from .opening import at_home

CURVES = (  # text on the page, key of ``paper.CURVES``
    ("All curves", ""),
    ("Tokens kept", "budget"),
    ("Novelty", "novelty"),
    ("Effective rank", "rank"),
    ("Residual energy", "energy"),
)
GROUPS = {
    "Curves": ("curves", "curves_png", "csv"),
    "Figure for a paper": ("pdf", "svg"),
    "Pictures": ("sheet", "clip"),
    "Numbers": ("json", "npz"),
    "Run": ("html", "run"),
}
DRAWN = {*GROUPS["Figure for a paper"], "curves", "curves_png"}  # kinds of the runs in the curves
UNITS = "Units, such as 1 4 8 (empty: six)"
MOST_UNITS = 12
TITLES = {kind: title for kind, (title, _) in exports.KINDS.items()}
TITLES["html"] = "Viewer that works offline (HTML)"
CODE = "Python code and a command that reproduce run B."
API = (
    "Three named endpoints, `/ask`, `/compress` and `/compare`, for `gradio_client` and curl. "
    "[`/gradio_api/info`](gradio_api/info) has their types; `/healthz` says "
    "whether the server is up."
)
CODE_HTML = """<div class="gv-code"></div>"""
EXPORTS = 24  # maximum number of concurrent exports, over all visitors
NOTHING = "There is nothing to save yet: choose a clip first."
WRITING = "Writing {title}…"
OPENED = "The saved run is open as run A in the viewer."
OF_ANOTHER = (
    "The saved run was made with {model}. After a change of settings or a new question, run A is "
    "repeated with the model chosen above."
)
ELSEWHERE = f"{OPENED} Its clip is not on this server: choose a clip to change settings or ask."


class ExportTab(Tab):
    title = "Export and API"

    def __init__(self) -> None:
        self.files = {}
        for group, kinds in GROUPS.items():
            with gr.Row(elem_classes="gv-files"):
                gr.Markdown(group, elem_classes="gv-group")
                if group == "Curves":
                    self.curve = gr.Dropdown(
                        list(CURVES), value="", show_label=False, label="Curve", min_width=150
                    )
                if group == "Figure for a paper":
                    self.units = gr.Textbox(
                        show_label=False, label="Units", placeholder=UNITS, max_length=200
                    )
                if group == "Pictures":
                    self.frames = gr.Button(
                        "Current frame of A and B (PNG)", size="sm", min_width=150
                    )
                for kind in kinds:
                    self.files[kind] = gr.Button(
                        TITLES[kind],
                        size="sm",
                        min_width=150,
                        elem_id=f"gv-export-{kind}",
                        elem_classes="gv-export",
                    )
                if group == "Run":
                    self.opened = gr.UploadButton(
                        "Open a saved run (ZIP)", size="sm", min_width=150, elem_id="gv-open"
                    )
        self.notice = notice.panel()
        # The kind of file whose button was pressed, and ids of the runs whose curves are drawn.
        self.asked = gr.Textbox(visible=False)
        self.file = gr.File(show_label=False, interactive=False, visible=False, elem_id="gv-file")
        gr.Markdown(f"## Code\n{CODE}", elem_classes="gv-heading")
        self.write = gr.Button("Write code for the current settings", size="sm", elem_id="gv-code")
        self.code = mounted("code", CODE_HTML)
        gr.Markdown(f"## API\n{API}", elem_classes="gv-heading")

    def connect(self, page: Page) -> None:
        self.page, inputs, outputs = page, page.inputs, page.outputs
        save = script("saveFrames", "results/frame.js")
        self.frames.click(None, None, self.notice, js=save, **PRIVATE)
        self.clip, self.count = inputs.settings["clip"], inputs.settings["frames"]
        self.model, self.pixels = inputs.settings["model"], inputs.settings["pixels"]
        shown = [outputs.runs, self.model, self.pixels, self.asked, self.curve, self.units]
        written = [self.notice, self.file]
        # One event for all buttons: every event slows the opening of the page.
        pressed = [button.click for button in self.files.values()]
        how: Any = {"js": script("pickRuns"), "concurrency_limit": EXPORTS, **PRIVATE}
        made = gr.on(pressed, writing(page.engine), shown, written, **how)
        made.then(None, None, None, js=script("fetchFile"), api_visibility="private")
        lines = [self.notice, outputs.notice, outputs.ready, outputs.status, outputs.tabs]
        settings = [self.clip, self.count, inputs.question, inputs.pinned]
        taken = self.opened.upload(
            self.on_open,
            {self.opened, self.clip, self.model},
            [*lines, *settings, *outputs.results],
            **PRIVATE,
        )
        taken.success(None, self.clip, None, js=script("holdClip"), **PRIVATE)
        inputs.when(self.write.click, self.on_code, [self.notice, self.code], **AT_ONCE)

    def on_open(self, user: gr.Request, values: Values) -> Changes:
        """Show a saved run that was uploaded as a file.

        Choose its clip if that is the page's clip or an example; otherwise choose no clip.
        """
        engine, inputs, outputs = self.page.engine, self.page.inputs, self.page.outputs
        try:
            saved = opening.opened(values[self.opened])
            own = [values[self.clip]] if values[self.clip] else []
            run, path = at_home(engine, saved, [*own, *inputs.examples])
            example = inputs.example(path)
            facts = example and example.facts
            view = payload([run], source=path, facts=facts, question=run.question)
        except Exception as error:
            return {self.notice: message(explain(error), "problem")}
        engine.pages.end_preview(owner(user))  # a preview would replace the opened run
        engine.pages.end(owner(user), UPLOAD)
        run_id = engine.runs.add(run, path, example)
        sides = Sides([run_id], question=run.question, model=values[self.model])
        opened = message(self.words(run, path, values[self.model]))
        shown = view | {"runs": [run_id]}
        found = answers(engine.runs, sides)
        is_known = run.compressor["name"] in METHODS
        return {
            self.notice: opened,
            outputs.notice: opened,
            self.clip: path,
            self.count: len(run.video) if path and self.takes(len(run.video)) else gr.skip(),
            outputs.tabs: gr.update(selected=TokensTab.title),
            outputs.status: status(engine, run),
            outputs.ready: ready(example),
            outputs.viewer: gr.update(version=0, value=shown, answers=found, pending=""),
            outputs.runs: [run_id],
            inputs.pinned: as_pinned(run.compressor) if is_known else "",
            inputs.question: run.question,
        }

    def takes(self, frames: int) -> bool:
        """Return whether this number of frames is in the range of the slider for frames."""
        return bool(self.count.minimum <= frames <= self.count.maximum)

    @staticmethod
    def words(run: Run, path: str | None, model: str) -> str:
        words = OPENED if path else ELSEWHERE
        if path and run.model != model:
            return f"{words} {OF_ANOTHER.format(model=short_name(run.model))}"
        return words

    def on_code(self, user: gr.Request, values: Values) -> Changes:
        try:
            code = recipe(self.page.inputs, self.page.inputs.read(values))
        except ValueError as error:
            return {self.notice: message(str(error), "problem")}
        texts = {
            "Python": snippets.python(code),
            "Command line": snippets.command(code),
            "curl": snippets.curl(code, address(user)),
        }
        return {self.notice: message(), self.code: list(texts.items())}


def writing(engine: Engine) -> Callable[..., Any]:
    """Return the handler of the buttons that write files."""

    def write(
        ids: list[str],
        model: str,
        pixels: int,
        asked: str,
        curve: str,
        units: str,
        user: gr.Request,
    ) -> Iterator[Any]:
        kind, *picked = asked.split() or [""]
        if kind not in TITLES:
            yield gr.skip(), gr.skip()
            return
        yield message(WRITING.format(title=TITLES[kind])), gr.skip()
        ids = drawn(ids, picked) if kind in DRAWN else ids
        runs = diagnosed_runs(engine, ids, model, pixels) if ids else []
        if not runs:
            yield message(GONE if ids else NOTHING, "problem"), gr.skip()
            return
        try:
            sender = visitor(user.client.host if user.client else "")
            if kind == "html":
                path = take_away.web_page_file(engine, ids, model, pixels, sender)
            else:
                options: dict[str, Any] = {}
                if kind in GROUPS["Figure for a paper"]:
                    options = {"units": read_units(units, runs[0].compression.grid[0])}
                elif kind in DRAWN:
                    options = {"curve": curve}
                path = exports.make(kind, runs, engine.queue.deadline_s, sender, **options)
        except Exception as error:
            yield message(explain(error), "problem"), gr.skip()
            return
        yield message(), gr.update(value=path, visible=True)

    return write


def drawn(ids: Sequence[str], picked: Sequence[str]) -> list[str]:
    """Return the runs whose curves the viewer draws: B, A, and those added by their chips."""
    wanted = [run_id for run_id in picked if run_id in ids]
    return wanted or list(ids[:2])


def read_units(text: str, count: int) -> list[int] | None:
    """Return unit indices from numbers that count from 1; None if there are none.

    Raises ``ValueError`` for anything but numbers of units of the clip.
    """
    words = text.replace(",", " ").split()
    if any(not word.isdecimal() or not 1 <= int(word) <= count for word in words[: MOST_UNITS + 1]):
        raise ValueError(f"Units are numbers from 1 to {count}, such as “1 4 8”.")
    if len(words) > MOST_UNITS:
        raise ValueError(f"A figure has room for {MOST_UNITS} units.")
    return [int(word) - 1 for word in words] or None


def recipe(inputs: Inputs, values: Values) -> snippets.Recipe:
    """Return the page's settings in the form from which snippets of code are written.

    Raises ``ValueError`` if a setting is invalid; the error names the setting.
    """
    request = inputs.request(values)
    return snippets.Recipe(
        clip=Path(request.path or snippets.CLIP).name,
        question=values[inputs.question] or "",
        model=request.model,
        frames=request.frames,
        compressor=request.make_compressor(),
        pixels=request.pixels,
        sampling=request.sampling,
        asks=can_answer(request.model),
        span=(None, None) if isinstance(request.sampled, int) else request.sampled[1:],
    )


def address(user: gr.Request) -> str:
    """Return the URL at which this server was reached."""
    return str(user.request.base_url).rstrip("/") if user.request else ""
