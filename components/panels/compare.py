"""Compare: choose methods and ratios, read answers and costs side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr

from components.panels.talk import notice_line
from components.session.comparing import RATIOS
from gleanvid.compressors.base import Compressor

ABOUT = (
    "The same frames, question and seed under every method you choose; the clip is encoded once. "
    "Words that differ from the full-token answer are marked. **Log-prob.** is the mean "
    "log-probability that the model gives the full-token answer under each method: the closer "
    "to the first row, the less was lost. Press **A** or **B** to set a side of the viewer."
)
START = ("gleanvid", "vidcom2", "vcast", "visionzip", "uniform")
SCRIPT = (Path(__file__).resolve().parents[2] / "assets" / "compare.js").read_text("utf-8")
HTML = """<div class="gv-compare"></div>"""


class Compare(NamedTuple):
    methods: gr.CheckboxGroup
    ratios: gr.CheckboxGroup
    start: gr.Button
    sweep: gr.Button
    stop: gr.Button
    notice: gr.HTML
    rows: gr.HTML
    scatter: gr.Plot


def panel(methods: Mapping[str, type[Compressor]]) -> Compare:
    gr.Markdown(ABOUT, elem_classes="gv-hint")
    names = [(cls.__name__, name) for name, cls in methods.items() if name != "full"]
    chosen = gr.CheckboxGroup(
        names,
        value=[name for name in START if name in methods],
        label="Compressors",
        info="Besides the full tokens, which always come first",
        interactive=True,
        elem_id="gv-methods",
    )
    ratios = gr.CheckboxGroup(
        [(f"{ratio:.0%}", ratio) for ratio in RATIOS],
        value=[0.25],
        label="Share kept",
        interactive=True,
    )
    with gr.Row(elem_classes="gv-send"):
        start = gr.Button("Compare", variant="primary", scale=2, elem_id="gv-compare-start")
        sweep = gr.Button("Sweep the ratio", scale=2, min_width=120, elem_id="gv-sweep")
        stop = gr.Button(
            "Stop", interactive=False, scale=1, min_width=70, elem_id="gv-compare-stop"
        )
    notice = notice_line()
    rows: Any = gr.HTML(
        None, apply_default_css=False, html_template=HTML, js_on_load=SCRIPT, elem_id="gv-rows"
    )
    scatter = gr.Plot(show_label=False, visible=False, elem_id="gv-scatter")
    return Compare(chosen, ratios, start, sweep, stop, notice, rows, scatter)
