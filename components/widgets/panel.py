"""Base classes: panels, which make widgets and handle their events, and tabs.

To add a tab, write a file with a :class:`Tab` and its line in ``tabs_of()`` of ``page/page.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import gradio as gr

from ..jobs.engine import Engine
from ..jobs.examples import Example
from .events import Changes
from .page_state import Inputs, Outputs

if TYPE_CHECKING:
    from ..tokens.previews import Previews


class Panel:
    """Base class of a group of widgets, which are made in ``__init__``."""

    starters: tuple[gr.Button, ...] = ()  # buttons that start a job on the model
    stoppers: tuple[gr.Button, ...] = ()  # buttons that end the panel's job

    def linked(self) -> Mapping[str, Any]:
        """Return key in a link -> widget, for widgets whose values are part of a link."""
        return {}

    def connect(self, page: Page) -> None:
        """Bind the panel's widgets to their events."""

    def cleared(self) -> Changes:
        """Return the changes that remove the panel's results if a link opens another clip."""
        return {}


class Tab(Panel):
    """Base class of panels that fill one tab of the page."""

    title: ClassVar[str]
    tab: gr.Tab  # Gradio's tab; set once the panel is made
    left_on_show: Sequence[Any] = ()  # events of comparisons; they may change runs A and B


@dataclass(frozen=True)
class Page:
    """Objects that panels share: the engine, the widgets that all use, the tabs, the previews."""

    engine: Engine
    inputs: Inputs
    outputs: Outputs
    blocks: gr.Blocks
    examples: Sequence[Example]
    tabs: Sequence[Tab]
    preview: Previews
    signals: Any  # see :func:`events.signals`
