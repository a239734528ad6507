"""Asking, asking again, and stopping."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
    talk, begin = page.talk, starting(engine)

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

    waiting = [talk.notice, *page.busy()]
    told = [talk.question, page.turns, page.runs, *page.asked()]
    talk_events = [talk.ask.click, talk.question.submit]
    asking = gr.on(talk_events, begin, None, waiting, **AT_ONCE).success(
        on_ask, told, page.shown(), **IN_LINE
    )
    again = talk.again.click(begin, None, waiting, **AT_ONCE).success(
        on_again, told, page.shown(), **IN_LINE
    )
    chosen = page.clip.ready.pick(picked, None, talk.question, **AT_ONCE)  # type: ignore[attr-defined]
    ready = chosen.then(begin, None, waiting, **AT_ONCE).success(
        on_ask, told, page.shown(), **IN_LINE
    )
    # The flag first: it frees the model. Cancelling only ends the event.
    talk.stop.click(stopping(engine), queue=False, api_visibility="private").then(
        lambda: updates(actions.STOPPED),
        None,
        page.shown(),
        **AT_ONCE,
        cancels=[asking, again, ready],
    )


def session(user: gr.Request) -> str:
    return str(user.session_hash)


def starting(engine: Engine) -> Callable[[gr.Request], list[Any]]:
    """Enter the work of a page; a second click while it is under way is refused in words."""

    def on_start(user: gr.Request) -> list[Any]:
        if not engine.start(session(user)):
            raise gr.Error(BUSY, print_exception=False)
        return [message("Starting…"), *working(True)]

    return on_start


def stopping(engine: Engine) -> Callable[[gr.Request], None]:
    def on_stop(user: gr.Request) -> None:
        engine.stop(session(user))

    return on_stop
