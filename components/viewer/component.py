"""The viewer as a Gradio component: a template, a script, and a value that only goes one way.

Alone in its file because Gradio writes a stub beside every file that holds a component.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradio as gr

ASSETS = Path(__file__).resolve().parents[2] / "assets"
TEMPLATE = (ASSETS / "viewer.html").read_text(encoding="utf-8")
SCRIPTS = [  # in this order: they share one scope
    ASSETS / f"viewer{part}.js"
    for part in ("_data", "_paint", "_looks", "_strips", "_words", "", "_hands")
]
SCRIPT = "\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS)


class MaskViewer(gr.HTML):
    """The canvas viewer; its value comes from :func:`components.viewer.payload.payload`."""

    def __init__(self, value: Mapping[str, Any] | None = None, **options: Any) -> None:
        super().__init__(
            value,
            html_template=TEMPLATE,
            js_on_load=SCRIPT,
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
