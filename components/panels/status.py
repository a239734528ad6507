"""The status of the server: device, model, tokens, memory and length of the queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .events import part

MARKUP = """<dl class="gv-status" aria-label="Status"></dl>"""


def panel(pairs: Sequence[tuple[str, str]]) -> Any:
    """Make the status line; ``pairs``: (name, text) of each value."""
    return part("status", MARKUP, list(pairs), elem_id="gv-status")
