"""Base classes of panels, which make widgets and handle their events, and of tabs.

A new tab is one file with a :class:`Tab`, and its line in ``tabs_of()`` of ``page.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import gradio as gr

from ..session.examples import Example
from ..session.work.engine import Engine
from .events import Changes
from .page_state import Inputs, Outputs
from .previews import Previews


class Panel:
    """Widgets that belong together. They are made in ``__init__``."""

    starters: tuple[gr.Button, ...] = ()  # buttons that begin work at the model
    stoppers: tuple[gr.Button, ...] = ()  # buttons that end it

    def linked(self) -> Mapping[str, Any]:
        """Return the widgets whose values a link holds, by key."""
        return {}

    def connect(self, page: Page) -> None:
        """Bind the events."""

    def cleared(self) -> Changes:
        """Return the changes that empty the panel if the page opens with another clip."""
        return {}


class Tab(Panel):
    """A panel in a tab of its own."""

    title: ClassVar[str]
    tab: gr.Tab  # set once the panel is made
    left_on_show: Sequence[Any] = ()  # events that leave other runs on show


@dataclass(frozen=True)
class Page:
    """What panels need to connect their events: the engine, shared widgets and other tabs."""

    engine: Engine
    inputs: Inputs
    outputs: Outputs
    blocks: gr.Blocks
    examples: Sequence[Example]
    tabs: Sequence[Tab]
    preview: Previews
