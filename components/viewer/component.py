"""The viewer as a Gradio component: two sides, A and B, under one timeline.

What goes in
    ``value``: :func:`components.viewer.payload.payload`: the clip, up to 12 runs and which of them
    are A and B (``b=None`` shows one run alone), with ``"runs"``, the ids of the runs in order.
    ``answers``: a list of :func:`components.session.answers.answer`, small, so that it can be sent
    with every word of a streamed answer. A side shows the answer of its run, else, greyed, the
    last one that names the side.
    ``pending``: what is under way while the picture is still of the settings before; else empty.
    ``version``: of the settings that the other fields were computed from; what comes later with
    a smaller one is not shown. 0: of no settings, always shown.
    ``choices``: ``[(name, title)]`` of compressors that the titles of A and B offer to run.

Change one without the others by ``gr.update(answers=[...])``; masks are then not sent again.

What comes out: events with a handler that takes ``gr.EventData``. Everything in it comes from the
page, so check it.
    ``pair`` (``a``, ``b``): ids of the runs that a person chose; the viewer shows them already.
    ``swap`` (``a``, ``b``): the same, after the button; ``a`` is what was B.
    ``pin`` (``a``, ``b``): the same; both are what was B.
    ``method`` (``side``, ``name``): a compressor of ``choices``, to be run for a side.
    ``clear``: what was tried before is to be forgotten; A and B stay.
    ``show``: other runs are on show than before, whoever brought them.
    ``ask`` (``side``): "Ask again" under an answer that belongs to other settings.
    ``measure``: what mattered for the answer is to be measured.

On the page: ``gleanvid:unit``, ``gleanvid:pair`` and ``gleanvid:view`` events of the document; see
``assets/viewer/mount.js``.

Alone in its file because Gradio writes a stub beside every file that holds a component.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from ..places import ASSETS
from . import modules

TEMPLATE = (ASSETS / "viewer.html").read_text(encoding="utf-8")
# Gradio looks for them in the script.
EVENTS = ("pair", "swap", "pin", "method", "ask", "measure", "clear", "show")


def script() -> str:
    """Return what Gradio runs when the component is mounted."""
    return modules.mounting("viewer/mount.js", EVENTS)


class MaskViewer(gr.HTML):
    """See the module; ``options`` are those of ``gr.HTML``."""

    def __init__(
        self,
        value: Mapping[str, Any] | None = None,
        *,
        answers: Sequence[Mapping[str, Any]] = (),
        choices: Sequence[tuple[str, str]] = (),
        pending: str = "",
        version: int = 0,
        **options: Any,
    ) -> None:
        super().__init__(
            value,
            html_template=TEMPLATE,
            js_on_load=script(),
            apply_default_css=False,
            answers=list(answers),
            pending=pending,
            version=version,
            choices=list(choices),
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
