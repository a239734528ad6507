"""How the events of a page behave, and whose they are."""

from __future__ import annotations

from typing import Any

import gradio as gr

# Gradio tells every output how far its event is, and searches the page for each: nothing shows it.
UNSEEN: dict[str, Any] = {
    "show_progress": "hidden",
    "show_progress_on": [],
    "api_visibility": "private",
}
AT_ONCE: dict[str, Any] = {"queue": False, **UNSEEN}
# The engine's line lets one at a time to the model and tells the others where they stand.
IN_LINE: dict[str, Any] = {"concurrency_limit": None, **UNSEEN}


def session(user: gr.Request) -> str:
    return str(user.session_hash)
