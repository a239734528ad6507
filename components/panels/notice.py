"""Lines for messages, which the page always shows as text, never as HTML."""

from __future__ import annotations

from typing import Any

from ..session.display import message
from .events import part


def panel(text: str = "") -> Any:
    """Make a line for messages; see :func:`components.session.display.message`."""
    markup = """<p class="gv-notice" data-kind="quiet" role="status"></p>"""
    return part("notice", markup, message(text))


def plain(css_class: str) -> Any:
    """Make a line of plain text, which is empty until an event fills it."""
    return part("text", f'<p class="{css_class}" role="status"></p>', "")
