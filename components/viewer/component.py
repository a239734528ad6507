"""The viewer as a Gradio component: two sides, A and B, under one timeline.

What goes in
    ``value``: result of :func:`components.viewer.payload.payload` (the clip, up to 28 runs, and
    which of them are shown as A and B), with ``"runs"``, the ids of the runs in the same order.
    ``answers``: a list of :func:`components.tokens.answers.answer`, small, so that it can be sent
    with every word of a streamed answer. A side shows the answer of its run. If that run has no
    answer, it shows the last answer whose ``side`` is this one, greyed out.
    ``pending``: message while the frames still show the previous settings; else empty.
    ``version``: number of the page's settings from which the other fields were computed. An update
    with a smaller number than the last one is not shown. An update with 0 is always shown.
    ``choices``: ``[(name, title)]`` of the compressors in the menus above A and B.

``gr.update(answers=[...])`` changes one field alone; masks are then not sent again.

What comes out: Gradio events. A handler gets the fields in brackets as ``gr.EventData``. They come
from the page, so check them.
    ``pair`` (``a``, ``b``): the user chose the runs with these ids; the viewer shows them already.
    ``swap`` (``a``, ``b``): the user swapped the sides; ``a`` is the run that was B.
    ``pin`` (``a``, ``b``): the user pinned B as A; both are the run that was B.
    ``method`` (``side``, ``name``): the user chose a compressor of ``choices`` for a side.
    ``show``: the viewer now shows other runs, by the user's choice or by an update.
    ``ask`` (``side``): the user pressed "Ask again" under an answer to other settings.
    ``measure``: measure the relevance of the tokens for the answer.

The document gets the DOM events ``gleanvid:unit`` and ``gleanvid:pair``; see
``assets/viewer/mount.js``.

The class has a file of its own because Gradio writes a stub next to each file with a component.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from ..places import ASSETS
from . import modules

TEMPLATE = (ASSETS / "viewer.html").read_text(encoding="utf-8")
# Names of Gradio events; Gradio allows an event only if its name is in the component's script.
EVENTS = ("pair", "swap", "pin", "method", "ask", "measure", "show")


def script() -> str:
    """Return the JavaScript that Gradio runs when the component is mounted."""
    return modules.mounting("viewer/mount.js", EVENTS)


class MaskViewer(gr.HTML):
    """Gradio component of the token viewer; ``options`` are those of ``gr.HTML``."""

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
        """Ignore the value that a page sends back."""
