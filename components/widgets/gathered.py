"""The values of many widgets as one value, which the browser packs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import gradio as gr

from gleanvid.errors import refusing

from ..jobs.methods import sent_settings
from ..jobs.request import within
from .events import PRIVATE, script
from .method_settings import MethodSettings

UNREADABLE = "The settings of the page could not be read. Load it again."


class Gathered:
    """The values of many widgets, packed into one value, that of :attr:`box`.

    Gradio searches the whole page for each input of an event, which is slow for many inputs. So a
    script packs the values in the browser (``assets/page/settings.js``), and the event that follows
    has the single input :attr:`box`: {"values", "version", "live"}.
    """

    def __init__(self, widgets: Sequence[Any]) -> None:
        self.widgets = list(widgets)
        self.box = gr.JSON(visible=False)

    def on(self, event: Callable[..., Any], name: str = "gather", **how: Any) -> Any:
        return event(None, self.widgets, self.box, js=script(name), **PRIVATE, **how)

    def read(self, sent: Any) -> dict[Any, Any]:
        """Return the value of each widget, after the checks that Gradio applies to inputs.

        Raises ``gr.Error`` if a value is invalid: a browser may send anything.
        """
        with refusing(partial(gr.Error, print_exception=False), UNREADABLE):
            pairs = zip(self.widgets, sent["values"], strict=True)
            return {widget: widget.preprocess(_checked(widget, value)) for widget, value in pairs}

    @staticmethod
    def version(sent: Any) -> int:
        """Return the version of the sent settings: how often this page has sent them before."""
        version = sent.get("version")
        return version if isinstance(version, int) else 0

    @staticmethod
    def is_live(sent: Any) -> bool:
        """Whether a live answer may follow the preview of the gathered values."""
        return sent.get("live") is True


def _checked(widget: Any, value: Any) -> Any:
    """Return ``value``, limited to the range of a number box or slider.

    Raises ValueError or TypeError for a value that the widget cannot have.
    """
    if isinstance(widget, MethodSettings):
        return sent_settings(value)
    if isinstance(widget, gr.Dropdown) and value not in [row[1] for row in widget.choices]:
        raise ValueError(f"{value!r} is not one of the choices")  # Gradio accepts lists and None
    if not isinstance(widget, gr.Slider | gr.Number):
        return value
    if value is not None and not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    return within(value, widget.minimum, widget.maximum, widget.value)  # type: ignore[arg-type]
