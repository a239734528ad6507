"""The line above the page: device, model, tokens, memory, and who waits for the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr
import torch

from components.session.engine import Engine
from gleanvid.run import Run

HTML = """<dl class="gv-status" aria-label="Status"></dl>"""
SCRIPT = """
const list = element.querySelector(".gv-status");
const show = () => list.replaceChildren(...(props.value || []).map(([name, text]) => {
  const pair = document.createElement("div");
  pair.append(
    Object.assign(document.createElement("dt"), { textContent: name }),
    Object.assign(document.createElement("dd"), { textContent: text }),
  );
  return pair;
}));
watch("value", show);
show();
"""
MIB = 2**20


def panel(pairs: list[tuple[str, str]]) -> gr.HTML:
    return gr.HTML(
        pairs, apply_default_css=False, html_template=HTML, js_on_load=SCRIPT, elem_id="gv-status"
    )


def pairs(engine: Engine, run: Run | None = None) -> list[tuple[str, str]]:
    """(name, text) of everything the line says; what is not known yet is left out."""
    model = engine.loaded()
    said = [("Device", device_name(model))]
    if model is not None:
        said.append(("Model", Path(model.name).name))
    if run is not None:
        record = run.compression
        said.append(("Tokens", f"{record.num_kept:,} of {record.num_tokens:,}"))
    said.append(("Memory", f"{memory_mib():,.0f} MiB"))
    waiting = max(0, len(engine.line) - 1)
    busy = "busy" if len(engine.line) else "free"
    said.append(("Queue", f"{waiting} waiting" if waiting else busy))
    return said


def device_name(model: Any | None) -> str:
    """The device of the loaded model, or the one a model would be loaded to."""
    there = torch.cuda.is_available()
    kind = str(getattr(model, "device", "cuda" if there else "cpu"))
    return torch.cuda.get_device_name() if kind.startswith("cuda") and there else kind.upper()


def memory_mib() -> float:
    """Allocated on the GPU where there is one, else the resident memory of this process."""
    if torch.cuda.is_available():
        return torch.cuda.memory_allocated() / MIB
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:  # no Linux
        return 0.0
    return pages * 4096 / MIB
