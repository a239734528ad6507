"""Gradio component with the settings of all compressors; it draws those of the chosen one.

``assets/tuning/settings.js`` draws them: Gradio would build a widget for each of about a hundred
settings, of which six are visible. The class has a file of its own because Gradio writes a stub
next to each file with a component.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from ..viewer import modules

HTML = """<div class="gv-own" role="group" aria-label="The compressor's settings"></div>"""


class MethodSettings(gr.HTML):
    """Gradio component for the settings of all compressors.

    ``value``: settings that differ from their default, by their key in a link. ``fields``:
    declaration of each setting, by key; see ``assets/tuning/settings.js``. ``shown``: keys of each
    method's settings.
    """

    def __init__(
        self,
        value: Mapping[str, Any] | None = None,
        *,
        fields: Mapping[str, Mapping[str, Any]],
        shown: Mapping[str, Sequence[str]],
        method: str,
        **options: Any,
    ) -> None:
        super().__init__(
            value or {},
            html_template=HTML,
            js_on_load=modules.mounting(
                "tuning/settings.js", fields=fields, shown=shown, method=method
            ),
            apply_default_css=False,
            **options,
        )
        # Not named like the arguments: Gradio would send them once more, as properties.
        self.declared, self.keys = fields, shown

    def __getattr__(self, name: str) -> Any:
        """Offer no events: ``gr.HTML`` would offer quoted words of ``js_on_load`` as events."""
        raise AttributeError(name)
