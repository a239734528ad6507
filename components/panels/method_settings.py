"""The settings of every method that stand in one place, as a Gradio component.

Drawn by ``assets/tuning/settings.js``, those of the chosen method alone. As widgets of Gradio's
they would be a hundred, of which six are seen, and Gradio would build and search every one.

Alone in its file because Gradio writes a stub beside every file that holds a component.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from ..viewer import modules

HTML = """<div class="gv-own" role="group" aria-label="The compressor's settings"></div>"""


class MethodSettings(gr.HTML):
    """``value``: the settings that are not at their default, by their key in a link.

    ``fields``: what each setting may be, by key; see ``assets/tuning/settings.js``. ``shown``: keys
    by method. ``readout``: what the clip made of the settings.
    """

    def __init__(
        self,
        value: Mapping[str, Any] | None = None,
        *,
        fields: Mapping[str, Mapping[str, Any]],
        shown: Mapping[str, Sequence[str]],
        method: str,
        readout: str = "",
        **options: Any,
    ) -> None:
        super().__init__(
            value or {},
            html_template=HTML,
            js_on_load=modules.mounting(
                "tuning/settings.js", fields=fields, shown=shown, method=method
            ),
            apply_default_css=False,
            readout=readout,
            **options,
        )
        self.fields, self.shown = fields, shown

    def __getattr__(self, name: str) -> Any:
        """Gradio takes every quoted word of the script for an event; there is none here."""
        raise AttributeError(name)
