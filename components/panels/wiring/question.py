"""Asking, asking again, and stopping."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import gradio as gr

from components.panels.clip import Example, expected, picked
from components.panels.page import Page, updates, working
from components.panels.talk import message
from components.panels.wiring.events import AT_ONCE, IN_LINE, session
from components.session import actions
from components.session.engine import Engine

GRACE_S = 3.0  # in which stopped work may still say how it ended
BUSY = "Still at work for you. Stop it first, or wait."


def wire(engine: Engine, page: Page, examples: Sequence[Example]) -> None:
    talk = page.talk

    def run(
        user: gr.Request, text: str, turns: actions.Turns, ids: list[str], asked: Any, again: bool
    ) -> Iterator[Any]:
        request = page.request(asked)
        truth = expected(examples, request.path, text)
        found = actions.ask(engine, session(user), request, text, turns, truth, ids or [], again)
        yield from map(updates, found)

    def on_ask(
        user: gr.Request, question: str, turns: actions.Turns, ids: list[str], *asked: Any
    ) -> Iterator[Any]:
        yield from run(user, question or "", turns, ids, asked, again=False)

    def on_again(
        user: gr.Request, question: str, turns: actions.Turns, ids: list[str], *asked: Any
    ) -> Iterator[Any]:
        last = turns[-1]["question"] if turns else question or ""
        yield from run(user, last, turns, ids, asked, again=True)

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

    def on_stop(user: gr.Request) -> list[Any]:
        stopped = updates(actions.STOPPED)
        return [gr.skip()] * len(stopped) if halted(engine, user) else stopped

    # The flag first: it frees the model. Cancelling only ends an event that does not end itself.
    ended = talk.stop.click(on_stop, None, page.shown(), **AT_ONCE)
    ended.then(None, None, None, cancels=runs)


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


def halted(engine: Engine, user: gr.Request) -> bool:
    """Stop what this page has under way; whether it had its last word and left."""
    works = engine.stop(session(user))
    until = time.monotonic() + GRACE_S
    over = [work.over.wait(max(0.0, until - time.monotonic())) for work in works]
    return bool(over) and all(over)


def stopping(engine: Engine) -> Callable[[gr.Request], None]:
    def on_stop(user: gr.Request) -> None:
        engine.stop(session(user))

    return on_stop
