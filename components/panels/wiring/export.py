"""Files, code, and opening a saved run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr

from components.files import exports, snippets
from components.panels.export import FETCH, SAVE_FRAME
from components.panels.page import Page
from components.panels.talk import message, turn
from components.panels.wiring.curves import GONE, told
from components.panels.wiring.events import AT_ONCE, UNSEEN
from components.session.actions import explain
from components.session.engine import Engine
from components.viewer.payload import payload

NOTHING = "There is nothing to save yet. The page opens with a saved picture: press Ask first."
OPENED = "A saved run, opened. Its clip is not here: ask about another, or look at its tokens."


def wire(engine: Engine, page: Page) -> None:
    panel = page.export
    panel.frame.click(None, None, None, js=SAVE_FRAME)
    for kind, button in panel.files.items():
        button.click(
            writing(engine, kind),
            [page.runs, page.settings.model, page.settings.pixels],
            panel.made,
            show_progress="minimal",
            api_visibility="private",
        ).success(None, None, None, js=FETCH)

    def on_open(path: str) -> list[Any]:
        try:
            run = exports.opened(path)
            view = payload([run])
        except Exception as error:
            return [message(explain(error), "problem"), *[gr.skip()] * 4]
        run_id = engine.runs.add(run)
        turns = [turn(run.question, run.answer, run, run_id=run_id)] if run.question else []
        return [message(OPENED), view | {"runs": [run_id]}, [run_id], turns, turns]

    talk = page.talk
    outputs = [talk.notice, page.viewer, page.runs, talk.answers, page.turns]
    panel.opened.upload(on_open, panel.opened, outputs, **UNSEEN)

    def on_code(user: gr.Request, question: str, *asked: Any) -> list[Any]:
        request = page.request(asked)
        name = Path(request.path or snippets.CLIP).name
        try:
            texts = [
                snippets.python(request, question or "", name),
                snippets.command(request, question or "", name),
                snippets.curl(request, question or "", name, address(user)),
            ]
            return [gr.update(value=text, visible=True) for text in texts]
        except ValueError as error:
            raise gr.Error(str(error), print_exception=False) from error

    code = [panel.python, panel.command, panel.curl]
    panel.refresh.click(on_code, [talk.question, *page.asked()], code, **AT_ONCE)


def writing(engine: Engine, kind: str) -> Callable[..., Any]:
    def on_write(ids: list[str], model: str, pixels: int) -> Any:
        if not ids:
            raise gr.Error(NOTHING, print_exception=False)
        runs = told(engine, ids, model, pixels)
        if not runs:
            raise gr.Error(GONE, print_exception=False)
        return gr.update(value=exports.make(kind, runs), visible=True)

    return on_write


def address(user: gr.Request) -> str:
    """Where this page is reached, without what follows the path."""
    return str(user.request.base_url).rstrip("/") if user.request else ""
