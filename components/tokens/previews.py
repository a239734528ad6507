"""Previews: show the tokens that the current settings keep, then perhaps a live answer.

A live answer is one that the visitor did not ask for by pressing Ask. After a change of settings, a
script (``assets/page/settings.js``) triggers an event, which starts a preview. The preview of
an encoded clip is computed outside Gradio's queue, which may deliver two events of a page in the
wrong order. Slower work uses the queue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import gradio as gr

from ..jobs.display import PageUpdate, message
from ..jobs.engine import Engine
from ..jobs.methods import can_answer
from ..jobs.request import Request, Sides
from ..widgets.events import AT_ONCE, PRIVATE, QUEUED, Changes, Values, or_nothing, script
from ..widgets.page_state import Inputs, Outputs, owner
from . import ask, preview
from .answers import caveat

SLOW = (
    "“Ask again on each change” pauses: an answer takes over "
    f"{ask.LIVE_S:g} seconds with this model. Press Ask to get one."
)


class Previews:
    """Shows which tokens are kept, without a question to the model.

    ``problem``: line of text that says why settings are refused. ``live``: the checkbox "Ask again
    when settings change".
    """

    def __init__(
        self,
        engine: Engine,
        inputs: Inputs,
        outputs: Outputs,
        stop: gr.Button,
        problem: gr.HTML,
        live: gr.Checkbox,
        signals: Any,
    ) -> None:
        self.engine, self.inputs, self.outputs = engine, inputs, outputs
        self.stop, self.problem, self.live = stop, problem, live
        shown = [*outputs.previewed, stop, problem]
        gathered = inputs.gathered.on(signals.preview, "gatherPreview", trigger_mode="multiple")
        began = inputs.after(gathered.then, self.on_preview, shown, **AT_ONCE)
        began.then(None, None, None, js=script("previewShown"), **PRIVATE)
        # "always_last": wait until the previous preview, which `on_preview` stops, has ended.
        how: Any = {"trigger_mode": "always_last", **QUEUED}
        inputs.after(began.success, self.on_follow, shown, [live], **how)

    def after(self, event: Callable[..., Any], live: bool = True) -> None:
        """Show a preview on ``event``; ``live``: whether a live answer may follow."""
        event(None, None, None, js=script("preview", live), **PRIVATE)

    def of_moves(self, event: Callable[..., Any]) -> None:
        """Show a preview when a slider moves, but only once the previous preview is shown."""
        event(None, None, None, js=script("previewMoves"), trigger_mode="multiple", **PRIVATE)

    def on_preview(self, user: gr.Request, values: Values) -> Changes:
        """Show the preview if it needs no encoding; otherwise only end the page's previous one."""
        values = self.inputs.read(values)
        request, sides = self.inputs.request(values), self.inputs.sides(values)
        if not preview.is_at_hand(self.engine, request, sides):
            self.engine.pages.end_older_preview(owner(user), sides.version)
            return gr.skip()
        changes: Changes = {}
        for update in self.updates(owner(user), request, sides):
            changes |= update
        return changes or gr.skip()

    def on_follow(self, user: gr.Request, values: Values) -> Iterator[Changes]:
        """Encode the clip if necessary and show the preview; then show live answers if enabled."""
        sent, values = values[self.inputs.gathered.box], self.inputs.read(values)
        live = self.inputs.gathered.is_live(sent) and bool(values[self.live])
        yield from or_nothing(self.follow(owner(user), values, live))

    def follow(self, session: str, values: Values, live: bool) -> Iterator[Changes]:
        inputs, engine = self.inputs, self.engine
        request, sides = inputs.request(values), inputs.sides(values)
        if not preview.is_at_hand(engine, request, sides):
            for update in preview.preview(engine, request, sides, session):
                sides = replace(sides, runs=update.runs) if update.runs else sides
                yield self.changes(session, request, sides, update)
        if not can_answer(request.model) or not live or caveat(request.example, request.model):
            # The model cannot answer, live answers are off, or the model is not made for the clip.
            return
        if request.model in inputs.recordings or not preview.is_at_hand(engine, request, sides):
            return
        if ask.is_slow(engine, request.model):
            yield {self.outputs.notice: message(SLOW)}
            return
        for update in ask.ask_live(engine, session, request, sides, bool(values[inputs.both])):
            yield self.outputs.changes(update, sides.version)

    def updates(self, session: str, request: Request, sides: Sides) -> Iterator[Changes]:
        for update in preview.preview(self.engine, request, sides, session):
            yield self.changes(session, request, sides, update)

    def changes(self, session: str, request: Request, sides: Sides, update: PageUpdate) -> Changes:
        stopping: Changes = {self.stop: gr.update(interactive=update.stoppable)}
        if self.engine.pages.has(session):  # Stop stays enabled: a job is running
            stopping = {}
        refused = {self.problem: refusal(request)}
        return refused | stopping | self.outputs.changes(update, sides.version)


def refusal(request: Request) -> str:
    """Return why the settings cannot be used, as a sentence; "" if they can be used."""
    try:
        request.make_compressor()
    except ValueError as error:
        return f"{str(error).replace('_', ' ')}. The frames still show the previous settings."
    return ""
