"""Asking, asking again, and stopping."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import gradio as gr

from components import actions
from components.clip import Example, expected, picked
from components.engine import Engine
from components.page import Page, updates, working
from components.talk import message
from components.wiring.looking import AT_ONCE, IN_LINE

BUSY = "Still at work for you. Stop it first, or wait."


def wire(engine: Engine, page: Page, examples: Sequence[Example]) -> None:
    talk = page.talk

    def on_ask(
        user: gr.Request, question: str, turns: actions.Turns, ids: list[str], *asked: Any
    ) -> Iterator[Any]:
        request, text = page.request(asked), question or ""
        truth = expected(examples, request.path, text)
        found = actions.ask(engine, session(user), request, text, turns, truth, ids or [])
        yield from map(updates, found)

    def on_again(
        user: gr.Request, question: str, turns: actions.Turns, *rest: Any
    ) -> Iterator[Any]:
        last = turns[-1]["question"] if turns else question
        yield from on_ask(user, last, turns[:-1], *rest)

    told = [talk.question, page.turns, page.runs, *page.asked()]
    chosen = page.clip.ready.pick(picked, None, talk.question, **AT_ONCE)  # type: ignore[attr-defined]
    clicked = partial(gr.on, [talk.ask.click, talk.question.submit])
    runs = [
        starting(event, engine, page, talk.notice, handler, told, page.shown())
        for event, handler in (
            (clicked, on_ask),
            (talk.again.click, on_again),
            (chosen.then, on_ask),
        )
    ]
    # The flag first: it frees the model. Cancelling only ends the event.
    talk.stop.click(stopping(engine), queue=False, api_visibility="private").then(
        lambda: updates(actions.STOPPED),
        None,
        page.shown(),
        **AT_ONCE,
        cancels=runs,
    )


def session(user: gr.Request) -> str:
    return str(user.session_hash)


def starting(
    event: Callable[..., Any], engine: Engine, page: Page, notice: gr.HTML, *handling: Any
) -> Any:
    """``handling`` (function, inputs, outputs) in the line once ``event`` has entered the work of
    a page. A second click while it is under way is refused in words in ``notice``: Gradio shows
    no error of an event outside its queue."""

    def on_start(user: gr.Request) -> list[Any]:
        if not engine.start(session(user)):
            raise gr.Error(BUSY, print_exception=False)
        return [message("Starting…"), *working(True)]

    started = event(on_start, None, [notice, *page.busy()], **AT_ONCE)
    started.failure(lambda: message(BUSY, "problem"), None, notice, **AT_ONCE)
    return started.success(*handling, **IN_LINE)


def stopping(engine: Engine) -> Callable[[gr.Request], None]:
    def on_stop(user: gr.Request) -> None:
        engine.stop(session(user))

    return on_stop
