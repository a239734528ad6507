"""Export and API: files of the runs on show, code that makes them again, named endpoints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr

from components.files import exports, snippets
from components.panels.shared import AT_ONCE, UNSEEN, Changes, Shared, Values
from components.session.actions import explain
from components.session.display import exchange, message
from components.session.engine import Engine
from components.session.runs import GONE, measured_runs
from components.viewer.payload import payload

ABOUT = (
    "Files of what is on show. Pictures, the clip and the saved run are of compressor A as it was "
    "run last; tables, masks and the PDF hold every run on show."
)
CODE = "The run on show, made again elsewhere."
API = (
    "Three named endpoints, `/ask`, `/compress` and `/compare`, for `gradio_client` and curl. "
    "[`/gradio_api/info`](gradio_api/info) has their types; `/healthz` says "
    "whether the server is up."
)
NOTHING = "There is nothing to save yet. The page opens with a saved picture: press Ask first."
OPENED = "A saved run, opened. Its clip is not here: ask about another, or look at its tokens."
SAVE_FRAME = """() => {
  const canvas = document.querySelector(".gv-frame");
  if (!canvas || !canvas.width) return;
  canvas.toBlob((blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = "frame.png";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}"""
FETCH = """() => new Promise((done) => {
  setTimeout(() => { document.querySelector("#gv-file a[download]")?.click(); done([]); }, 400);
})"""


class Export(NamedTuple):
    frame: gr.Button
    files: dict[str, gr.Button]
    file: gr.File
    opened: gr.UploadButton
    refresh: gr.Button
    python: gr.Code
    command: gr.Code
    curl: gr.Code


def panel() -> Export:
    gr.Markdown(ABOUT, elem_classes="gv-hint")
    with gr.Row(elem_classes="gv-files"):
        frame = gr.Button("Frame on show (PNG)", size="sm", min_width=150)
        files = {
            name: gr.Button(title, size="sm", min_width=150)
            for name, (title, _) in exports.KINDS.items()
        }
    file = gr.File(label="Last file", interactive=False, visible=False, elem_id="gv-file")
    opened = gr.UploadButton(
        "Open a saved run (ZIP)", file_types=[".zip"], size="sm", elem_id="gv-open"
    )
    gr.Markdown(f"## Code\n{CODE}", elem_classes="gv-heading")
    refresh = gr.Button("Write the code for the settings as they are", size="sm")
    hidden: dict[str, Any] = {"interactive": False, "visible": False}
    python = gr.Code(label="Python", language="python", **hidden)
    command = gr.Code(label="Command line", language="shell", **hidden)
    curl = gr.Code(label="curl", language="shell", **hidden)
    gr.Markdown(f"## API\n{API}", elem_classes="gv-heading")
    return Export(frame, files, file, opened, refresh, python, command, curl)


def wire(engine: Engine, shared: Shared, panel: Export) -> None:
    panel.frame.click(None, None, None, js=SAVE_FRAME)
    model, pixels = shared.settings["model"], shared.settings["pixels"]
    for kind, button in panel.files.items():
        button.click(
            writing(engine, kind),
            [shared.runs, model, pixels],
            panel.file,
            show_progress="minimal",
            api_visibility="private",
        ).success(None, None, None, js=FETCH)

    def on_open(path: str) -> Changes:
        try:
            run = exports.opened(path)
            view = payload([run])
        except Exception as error:
            return {shared.notice: message(explain(error), "problem")}
        run_id = engine.runs.add(run)
        asked = [exchange(run.question, run.answer, run, run_id=run_id)] if run.question else []
        return {
            shared.notice: message(OPENED),
            shared.viewer: view | {"runs": [run_id]},
            shared.runs: [run_id],
            shared.answers: asked,
            shared.exchanges: asked,
        }

    panel.opened.upload(on_open, panel.opened, [shared.notice, *shared.results], **UNSEEN)

    def on_code(user: gr.Request, values: Values) -> Changes:
        try:
            code = recipe(shared, values)
            texts = {
                panel.python: snippets.python(code),
                panel.command: snippets.command(code),
                panel.curl: snippets.curl(code, address(user)),
            }
        except ValueError as error:
            raise gr.Error(str(error), print_exception=False) from error
        return {widget: gr.update(value=text, visible=True) for widget, text in texts.items()}

    code = [panel.python, panel.command, panel.curl]
    panel.refresh.click(on_code, {shared.question, *shared.asked}, code, **AT_ONCE)


def recipe(shared: Shared, values: Values) -> snippets.Recipe:
    """What the settings say as they stand. Raises ``ValueError`` naming a bad one."""
    request = shared.request(values)
    return snippets.Recipe(
        clip=Path(request.path or snippets.CLIP).name,
        question=values[shared.question] or "",
        model=request.model,
        frames=request.frames,
        compressor=request.compressor(),
        pixels=request.pixels,
        sampling=request.sampling,
    )


def writing(engine: Engine, kind: str) -> Callable[..., Any]:
    def on_write(ids: list[str], model: str, pixels: int) -> Any:
        if not ids:
            raise gr.Error(NOTHING, print_exception=False)
        runs = measured_runs(engine, ids, model, pixels)
        if not runs:
            raise gr.Error(GONE, print_exception=False)
        return gr.update(value=exports.make(kind, runs), visible=True)

    return on_write


def address(user: gr.Request) -> str:
    """Where this page is reached, without what follows the path."""
    return str(user.request.base_url).rstrip("/") if user.request else ""
