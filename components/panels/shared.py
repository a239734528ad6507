"""What the panels share: widgets that several of them read or change, and how events behave.

Handlers take and return dictionaries from widget to value, so no position stands for a widget.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from components.session import actions
from components.session.display import message
from components.session.engine import Engine
from components.session.request import RATIO, Request, chosen
from components.viewer.component import MaskViewer
from gleanvid.compressors import COMPRESSORS
from gleanvid.compressors.base import Compressor

# Gradio tells every output how far its event is, and searches the page for each: nothing shows it.
UNSEEN: dict[str, Any] = {
    "show_progress": "hidden",
    "show_progress_on": [],
    "api_visibility": "private",
}
AT_ONCE: dict[str, Any] = {"queue": False, **UNSEEN}
# The engine's line lets one at a time to the model and tells the others where they stand.
IN_LINE: dict[str, Any] = {"concurrency_limit": None, **UNSEEN}
GRACE_S = 3.0  # time for stopped work to say how it ended
BUSY = "Still at work for you. Stop it first, or wait."

Values = Mapping[Any, Any]  # by widget: what an event brings
Changes = dict[Any, Any]  # by widget: what it changes; the others stay


@dataclass(frozen=True)
class Shared:
    """Widgets that more than one panel reads or changes."""

    settings: Mapping[str, Any]  # all that a request is made of, by name in a link
    question: gr.Textbox
    notice: gr.HTML
    answers: gr.HTML
    ready: gr.HTML  # questions offered for the clip
    viewer: MaskViewer
    status: gr.HTML
    tabs: gr.Tabs
    runs: gr.State  # ids of the runs on show, the first one in charge
    exchanges: gr.State
    tab: gr.State  # name of the open tab
    starters: tuple[gr.Button, ...]  # buttons that begin work at the model
    stoppers: tuple[gr.Button, ...]

    @property
    def asked(self) -> set[Any]:
        """The widgets that :meth:`request` reads."""
        return set(self.settings.values())

    def request(self, values: Values) -> Request:
        named = {name: values[widget] for name, widget in self.settings.items()}
        make, method, ratio = self.maker(values), named["compressor"], named[RATIO]
        return Request(
            path=named["clip"],
            frames=int(named["frames"] or 0),
            model=named["model"],
            compressor=lambda: make(method, ratio),
            pixels=int(named["pixels"] or 0),
            sampling={
                "seed": named["seed"],
                "temperature": named["temperature"],
                "top_p": named["top_p"],
                "max_new_tokens": int(named["new_tokens"] or 0),
            },
        )

    def maker(self, values: Values) -> Callable[[str, float], Compressor]:
        """Makes a method at a ratio, its other settings as they stand in the sidebar."""
        named = {name: values[widget] for name, widget in self.settings.items()}

        def make(method: str, ratio: float) -> Compressor:
            prefix = f"{method}."
            own = {
                name.removeprefix(prefix): value
                for name, value in named.items()
                if name.startswith(prefix)
            }
            return chosen(COMPRESSORS, method, own | {RATIO: ratio})

        return make

    def changes(self, update: actions.PageUpdate) -> Changes:
        parts = {
            self.notice: update.notice,
            self.viewer: update.viewer,
            self.runs: update.runs,
            self.status: update.status,
            self.answers: update.exchanges,
            self.exchanges: update.exchanges,
        }
        changed = {widget: value for widget, value in parts.items() if value is not None}
        return changed | (self.working(False) if update.done else {})

    @property
    def changed(self) -> list[Any]:
        """All that :meth:`changes` may change."""
        return [*self.previewed, self.answers, self.exchanges, *self.buttons]

    @property
    def previewed(self) -> list[Any]:
        """What changes without a question. Keep short: every output costs rendering time."""
        return [self.notice, self.viewer, self.runs, self.status]

    @property
    def results(self) -> list[Any]:
        """What :meth:`cleared` empties."""
        return [self.answers, self.exchanges, self.viewer, self.runs]

    def cleared(self) -> Changes:
        return {self.answers: [], self.exchanges: [], self.viewer: None, self.runs: []}

    @property
    def buttons(self) -> list[Any]:
        return [*self.starters, *self.stoppers]

    def working(self, running: bool) -> Changes:
        """Stop works while something runs, everything else before."""
        free, stop = gr.update(interactive=not running), gr.update(interactive=running)
        return dict.fromkeys(self.starters, free) | dict.fromkeys(self.stoppers, stop)


def owner(user: gr.Request) -> str:
    """The page that an event comes from."""
    return str(user.session_hash)


def previewing(engine: Engine, shared: Shared, stop: gr.Button, problem: gr.HTML) -> dict[str, Any]:
    """The event that shows the tokens of the clip under the settings as they are.

    ``problem`` says why they are refused, where they are.
    """

    def on_preview(user: gr.Request, values: Values) -> Iterator[Changes]:
        page, before = owner(user), values[shared.runs] or []
        request = shared.request(values)
        yield {problem: refusal(request)}
        for update in actions.preview(engine, request, before, page):
            stoppable = update.stoppable or engine.busy(page)
            yield shared.changes(update) | {stop: gr.update(interactive=stoppable)}

    inputs, outputs = {shared.runs, *shared.asked}, [*shared.previewed, stop, problem]
    return {"fn": on_preview, "inputs": inputs, "outputs": outputs, **IN_LINE}


def refusal(request: Request) -> str:
    """Why the settings cannot be used, and what the picture is then of; empty where they can."""
    try:
        request.compressor()
    except ValueError as error:
        return f"{error}. The picture is of the settings before."
    return ""


def starting(
    event: Callable[..., Any],
    engine: Engine,
    shared: Shared,
    notice: gr.HTML,
    handler: Callable[..., Any],
    inputs: set[Any],
    outputs: list[Any],
) -> Any:
    """``handler`` on ``event``, once the work of this page is entered.

    A second click meanwhile is refused in ``notice``: Gradio shows no error of an event outside
    its queue.
    """

    def on_start(user: gr.Request) -> Changes:
        if not engine.start(owner(user)):
            raise gr.Error(BUSY, print_exception=False)
        return {notice: message("Starting…")} | shared.working(True)

    started = event(on_start, None, [notice, *shared.buttons], **AT_ONCE)
    started.failure(lambda: message(BUSY, "problem"), None, notice, **AT_ONCE)
    return started.success(handler, inputs, outputs, **IN_LINE)


def halted(engine: Engine, user: gr.Request) -> bool:
    """Stop what this page has under way; whether it ended by itself in time."""
    works = engine.stop(owner(user))
    until = time.monotonic() + GRACE_S
    over = [work.over.wait(max(0.0, until - time.monotonic())) for work in works]
    return bool(over) and all(over)
