"""Lines for messages and the server's status, which the page shows as text, never as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..jobs.display import message
from .events import part


def panel(text: str = "") -> Any:
    """Make a line for messages; see :func:`components.jobs.display.message`."""
    markup = """<p class="gv-notice" data-kind="quiet" role="status"></p>"""
    return part("notice", markup, message(text))


def plain(css_class: str) -> Any:
    """Make a line of plain text, which is empty until an event fills it."""
    return part("text", f'<p class="{css_class}" role="status"></p>', "")


def status(pairs: Sequence[tuple[str, str]]) -> Any:
    """Make the line with the status of the server; ``pairs``: (name, text) of each value."""
    markup = """<dl class="gv-status" aria-label="Status"></dl>"""
    return part("status", markup, list(pairs), elem_id="gv-status")
