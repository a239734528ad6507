"""The event that shows the tokens of the clip under the settings as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from components import actions
from components.engine import Engine
from components.page import Page, looked

# The engine's line lets one at a time to the model and tells the others where they stand.
IN_LINE: dict[str, Any] = {
    "concurrency_limit": None,
    "show_progress": "hidden",
    "api_visibility": "private",
}
AT_ONCE: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}


def looking(engine: Engine, page: Page) -> dict[str, Any]:
    def on_look(ids: list[str], *asked: Any) -> Iterator[list[Any]]:
        yield from map(looked, actions.look(engine, page.request(asked), ids or []))

    inputs = [page.runs, *page.asked()]
    return {"fn": on_look, "inputs": inputs, "outputs": page.looked(), **IN_LINE}
