"""Export and API: files of the runs on show, code that makes them again, named endpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr

from gleanvid.compressors import COMPRESSORS

from ..files import exports, opening, snippets
from ..session.actions.preview import answers
from ..session.actions.restore import at_home
from ..session.actions.runs import GONE, measured_runs
from ..session.display import explain, message, short_name, status
from ..session.examples import ready
from ..session.request import Sides
from ..session.work.engine import Engine
from ..viewer import modules
from ..viewer.payload import payload
from . import notice
from .clip import HELD
from .shared import AT_ONCE, UNSEEN, Changes, Shared, Values
from .sides import pinned

TITLE = "Export and API"
GROUPS = {"Pictures": ("sheet", "clip", "pdf"), "Numbers": ("csv", "json", "npz"), "Run": ("run",)}
CODE = "The run of B, made again elsewhere."
API = (
    "Three named endpoints, `/ask`, `/compress` and `/compare`, for `gradio_client` and curl. "
    "[`/gradio_api/info`](gradio_api/info) has their types; `/healthz` says "
    "whether the server is up."
)
CODE_HTML = """<div class="gv-code"></div>"""
NOTHING = "There is nothing to save yet: choose a clip first."
WRITING = "Writing {title}…"
OPENED = "A saved run, opened as A with the settings in its name."
OF_ANOTHER = "It is of {model}: tuning or asking makes A anew, with the model chosen above."
ELSEWHERE = f"{OPENED} Its clip is not here: choose one to tune or ask."
SAVE_FRAMES = f"""async () => {{
  const {{ saveFrames }} = await import({modules.script("results/frame.js")});
  return {{ text: await saveFrames(), kind: "problem" }};
}}"""
# The file that was made last is fetched by itself, once.
FETCH = """() => new Promise((done) => {
  setTimeout(() => {
    const link = document.querySelector("#gv-file a[download]");
    if (link && link.href !== window.gvFetched) link.click();
    window.gvFetched = link?.href;
    done([]);
  }, 400);
})"""


class Export(NamedTuple):
    frames: gr.Button
    files: dict[str, gr.Button]
    notice: gr.HTML
    file: gr.File
    opened: gr.UploadButton
    refresh: gr.Button
    code: gr.HTML


def panel() -> Export:
    files = {}
    for group, kinds in GROUPS.items():
        with gr.Row(elem_classes="gv-files"):
            gr.Markdown(group, elem_classes="gv-group")
            if group == "Pictures":
                frames = gr.Button("Both frames (PNG)", size="sm", min_width=150)
            for kind in kinds:
                files[kind] = gr.Button(exports.KINDS[kind][0], size="sm", min_width=150)
            if group == "Run":
                opened = gr.UploadButton(
                    "Open a saved run (ZIP)",
                    size="sm",
                    min_width=150,
                    elem_id="gv-open",
                )
    line = notice.panel()
    file = gr.File(show_label=False, interactive=False, visible=False, elem_id="gv-file")
    gr.Markdown(f"## Code\n{CODE}", elem_classes="gv-heading")
    refresh = gr.Button("Write the code for the settings as they are", size="sm", elem_id="gv-code")
    code: Any = gr.HTML(
        None,
        apply_default_css=False,
        html_template=CODE_HTML,
        js_on_load=modules.mounting("results/code.js"),
    )
    gr.Markdown(f"## API\n{API}", elem_classes="gv-heading")
    return Export(frames, files, line, file, opened, refresh, code)


def wire(engine: Engine, shared: Shared, panel: Export) -> None:
    panel.frames.click(None, None, panel.notice, js=SAVE_FRAMES, **UNSEEN)
    clip, model, pixels = (shared.settings[name] for name in ("clip", "model", "pixels"))
    for kind, button in panel.files.items():
        button.click(
            writing(engine, kind),
            [shared.runs, model, pixels],
            [panel.notice, panel.file],
            **UNSEEN,
        ).success(None, None, None, js=FETCH)
    lines = [panel.notice, shared.notice, shared.ready, shared.status]
    settings = [clip, shared.settings["frames"], shared.question, shared.pinned]
    outputs = [*lines, *settings, *shared.results]
    given = {panel.opened, clip, model}
    taken = panel.opened.upload(reopening(engine, shared, panel), given, outputs, **UNSEEN)
    taken.success(None, clip, None, js=HELD, **UNSEEN)
    shared.when(panel.refresh.click, coding(shared, panel), [panel.notice, panel.code], **AT_ONCE)


def reopening(engine: Engine, shared: Shared, panel: Export) -> Callable[[Values], Changes]:
    clip, model, frames = (shared.settings[name] for name in ("clip", "model", "frames"))

    def on_open(values: Values) -> Changes:
        """The page keeps no clip but the run's, so nothing is asked about another one."""
        try:
            saved = opening.opened(values[panel.opened])
            own = [values[clip]] if values[clip] else []
            run, path = at_home(engine, saved, [*own, *shared.examples])
            example = shared.examples.get(path or "")
            facts = example and example.facts
            view = payload([run], source=path, facts=facts, question=run.question)
        except Exception as error:
            return {panel.notice: message(explain(error), "problem")}
        run_id = engine.runs.add(run, path, example)
        given = answers(engine.runs, Sides([run_id], question=run.question, model=values[model]))
        count = len(run.video)  # with another number the run would not be of the page's frames
        fits = path is not None and frames.minimum <= count <= frames.maximum
        words = OPENED if path else ELSEWHERE
        if path and run.model != values[model]:
            words = f"{words} {OF_ANOTHER.format(model=short_name(run.model))}"
        said = message(words)
        return {
            panel.notice: said,
            shared.notice: said,
            clip: path,
            frames: count if fits else gr.skip(),
            shared.status: status(engine, run),
            shared.ready: ready(example),
            shared.exchanges: [],
            shared.viewer: gr.update(
                turn=0, value=view | {"runs": [run_id]}, answers=given, pending=""
            ),
            shared.runs: [run_id],
            shared.pinned: pinned(run.compressor) if run.compressor["name"] in COMPRESSORS else "",
            shared.question: run.question,
        }

    return on_open


def coding(shared: Shared, panel: Export) -> Callable[..., Changes]:
    def on_code(user: gr.Request, values: Values) -> Changes:
        try:
            code = recipe(shared, shared.unpacked(values))
        except ValueError as error:
            return {panel.notice: message(str(error), "problem")}
        texts = {
            "Python": snippets.python(code),
            "Command line": snippets.command(code),
            "curl": snippets.curl(code, address(user)),
        }
        return {panel.notice: message(), panel.code: list(texts.items())}

    return on_code


def recipe(shared: Shared, values: Values) -> snippets.Recipe:
    """What the settings say as they stand. Raises ``ValueError`` naming a bad one."""
    request = shared.request(values)
    return snippets.Recipe(
        clip=Path(request.path or snippets.CLIP).name,
        question=values[shared.question] or "",
        model=request.model,
        frames=request.frames,
        compressor=request.make_compressor(),
        pixels=request.pixels,
        sampling=request.sampling,
    )


def writing(engine: Engine, kind: str) -> Callable[..., Any]:
    title, _ = exports.KINDS[kind]

    def on_write(ids: list[str], model: str, pixels: int) -> Iterator[Any]:
        """What is under way, then the file, or why there is none."""
        yield message(WRITING.format(title=title)), gr.skip()
        runs = measured_runs(engine, ids, model, pixels) if ids else []
        if not runs:
            yield message(GONE if ids else NOTHING, "problem"), gr.skip()
            return
        try:
            path = exports.make(kind, runs)
        except Exception as error:
            yield message(explain(error), "problem"), gr.skip()
            return
        yield message(), gr.update(value=path, visible=True)

    return on_write


def address(user: gr.Request) -> str:
    """Where this page is reached, without what follows the path."""
    return str(user.request.base_url).rstrip("/") if user.request else ""
