"""Export and API: files of the runs on show, code that makes them again, named endpoints."""

from __future__ import annotations

from typing import Any, NamedTuple

import gradio as gr

from components.files.exports import KINDS

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
    made: gr.File
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
            name: gr.Button(title, size="sm", min_width=150) for name, (title, _) in KINDS.items()
        }
    made = gr.File(label="Last file", interactive=False, visible=False, elem_id="gv-file")
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
    return Export(frame, files, made, opened, refresh, python, command, curl)
