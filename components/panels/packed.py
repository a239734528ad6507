"""The settings of the page as one value.

Gradio tells each input of an event how far the event is, again and again, and goes on telling it
at every later event: with 70 widgets as inputs the masks come 0.2 s later. So a script gathers the
values within the page, and the event that follows has a single input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

GATHER = "(...values) => [values]"
UNREADABLE = "The settings of the page could not be read. Load it again."


class Packed:
    """``widgets``: those whose values :attr:`box` holds, in this order."""

    def __init__(self, widgets: Sequence[Any]) -> None:
        self.widgets = list(widgets)
        self.box = gr.JSON(visible=False)

    def gathered(self, event: Callable[..., Any], **how: Any) -> Any:
        """The event that puts the values, as they stand at ``event``, into the box."""
        return event(None, self.widgets, self.box, js=GATHER, **how)

    def read(self, values: Any) -> dict[Any, Any]:
        """By widget: what the box holds, checked by each widget as Gradio checks an input.

        Raises ``gr.Error``: a browser may send anything.
        """
        try:
            pairs = zip(self.widgets, values, strict=True)
            return {widget: widget.preprocess(value) for widget, value in pairs}
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            raise gr.Error(UNREADABLE, print_exception=False) from error
