"""The event that shows the tokens of the clip under the settings as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr

from components.panels.page import Page, looked
from components.panels.wiring.events import IN_LINE, session
from components.session import actions
from components.session.engine import Engine


def looking(engine: Engine, page: Page) -> dict[str, Any]:
    def on_look(user: gr.Request, ids: list[str], *asked: Any) -> Iterator[list[Any]]:
        owner = session(user)
        for shown in actions.look(engine, page.request(asked), ids or [], owner):
            stop = gr.update(interactive=shown.stoppable or engine.busy(owner))
            yield [*looked(shown), stop]

    inputs, outputs = [page.runs, *page.asked()], [*page.looked(), page.talk.stop]
    return {"fn": on_look, "inputs": inputs, "outputs": outputs, **IN_LINE}
