"""The viewer as a Gradio component: a template, a script, and a value that only goes one way.

Alone in its file because Gradio writes a stub beside every file that holds a component.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradio as gr

ASSETS = Path(__file__).resolve().parents[2] / "assets"
TEMPLATE = (ASSETS / "viewer.html").read_text(encoding="utf-8")
MODULES = ASSETS / "viewer"  # ES modules; mount.js is their entry
gr.set_static_paths(MODULES)
# Gradio runs a component's script as a function: it can import modules, but cannot be one. All are
# asked for at once, so that they arrive in one round trip; Gradio knows the path behind a proxy.
SCRIPT = """
const base = `${window.gradio_config?.root ?? ""}/gradio_api/file=${FOLDER}/`;
Promise.all(NAMES.map((name) => import(base + name))).then(
  (modules) => modules[0].mount({ element, props, watch }),
  (error) => {
    console.error(error);
    const blank = element.querySelector(".gv-blank");
    blank.textContent = "The viewer did not load. Load the page again.";
  },
);
"""


def script() -> str:
    """What Gradio runs when the component is mounted."""
    others = sorted(path.name for path in MODULES.glob("*.js") if path.name != "mount.js")
    facts = {"FOLDER": MODULES.as_posix(), "NAMES": ["mount.js", *others]}
    said = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in facts.items())
    return said + SCRIPT


class MaskViewer(gr.HTML):
    """The canvas viewer; its value comes from :func:`components.viewer.payload.payload`."""

    def __init__(self, value: Mapping[str, Any] | None = None, **options: Any) -> None:
        super().__init__(
            value,
            html_template=TEMPLATE,
            js_on_load=script(),
            apply_default_css=False,
            **options,
        )

    def preprocess(self, payload: Any) -> None:
        """What a page sends back is never read."""

    def postprocess(self, value: Any) -> Any:
        return value

    def api_info(self) -> dict[str, Any]:
        return {"type": "object"}

    def example_payload(self) -> dict[str, Any]:
        return {}

    def example_value(self) -> dict[str, Any]:
        return {}
