"""The line that shows a message to the person; its text reaches the page as text alone."""

from __future__ import annotations

import gradio as gr

from components.session.display import message

HTML = """<p class="gv-notice" data-kind="quiet" role="status"></p>"""
SCRIPT = """
const line = element.querySelector(".gv-notice");
const show = () => {
  const { text = "", kind = "quiet" } = props.value || {};
  line.textContent = text;
  line.dataset.kind = kind;
};
watch("value", show);
show();
"""


def panel(text: str = "") -> gr.HTML:
    value = message(text)
    return gr.HTML(value, apply_default_css=False, html_template=HTML, js_on_load=SCRIPT)
