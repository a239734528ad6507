"""The line that shows a message to the person; its text reaches the page as text alone."""

from __future__ import annotations

import gradio as gr

from ..session.display import message

HTML = """<p class="gv-notice" data-kind="quiet" role="status"></p>"""
SCRIPT = """
const line = element.querySelector(".gv-notice");
const close = document.createElement("button");
Object.assign(close, { type: "button", textContent: "Dismiss" });
let newest = 0;
const show = () => {
  const { text = "", kind = "quiet", turn = 0 } = props.value || {};
  if (turn && turn < newest) return; // of settings before
  newest = turn || newest;
  line.textContent = text;
  line.dataset.kind = kind;
  if (kind === "problem") line.append(close);
};
close.addEventListener("click", () => { props.value = { turn: newest }; show(); });
watch("value", show);
show();
// What the browser itself has to say, as whoever refuses a file does.
line.addEventListener("gleanvid:say", ({ detail }) => { props.value = detail; show(); });
"""
TEXT_SCRIPT = """
const show = () => { element.querySelector("p").textContent = props.value || ""; };
watch("value", show);
show();
"""


def panel(text: str = "") -> gr.HTML:
    value = message(text)
    return gr.HTML(value, apply_default_css=False, html_template=HTML, js_on_load=SCRIPT)


def text(css_class: str) -> gr.HTML:
    """A line of plain text, empty at first: Gradio's own template would run what stands in it."""
    template = f'<p class="{css_class}" role="status"></p>'
    return gr.HTML("", apply_default_css=False, html_template=template, js_on_load=TEXT_SCRIPT)
