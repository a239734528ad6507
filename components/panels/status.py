"""The line above the page: device, model, tokens, memory, and who waits for the model."""

from __future__ import annotations

import gradio as gr

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


def panel(pairs: list[tuple[str, str]]) -> gr.HTML:
    return gr.HTML(
        pairs, apply_default_css=False, html_template=HTML, js_on_load=SCRIPT, elem_id="gv-status"
    )
