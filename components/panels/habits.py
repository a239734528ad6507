"""How the page asks: again after every move of a slider, all tokens too, with a memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import gradio as gr

from ..session.actions import ask as asking
from ..session.actions.preview import is_at_hand
from ..session.display import caveat, message
from ..session.examples import Example
from ..session.work.engine import Engine
from ..session.work.local import BUILT_IN
from .shared import (
    AT_ONCE,
    IN_LINE,
    LIVE,
    Changes,
    Previews,
    Shared,
    Values,
    or_nothing,
    owner,
)

SLOW = "Answers take a while here: press Ask for one."
RESTS = "Rests here: the built-in model knows only Glimpse clips. Press Ask."
LOG_HTML = """<div class="gv-log" role="log" aria-label="Conversation" tabindex="0"></div>"""
LOG_JS = """
const log = element.querySelector(".gv-log");
const node = (kind, text) =>
  Object.assign(document.createElement("p"), { className: kind, textContent: text });
const show = () => log.replaceChildren(...(props.value || []).flatMap(
  ({ question, answer }) => [node("gv-asked", question), node("gv-told", answer)]));
watch("value", show);
show();
"""


class Habits(NamedTuple):
    live: gr.Checkbox
    both: gr.Checkbox
    remember: gr.Checkbox
    forget: gr.Button
    log: gr.HTML


def live() -> gr.Checkbox:
    return gr.Checkbox(
        True, label="Ask again while tuning", interactive=True, elem_id="gv-live-switch"
    )


def resting(example: Example | None, model: str) -> dict[str, Any]:
    """The switch of :func:`live`: greyed, with the reason, where words would mean nothing.

    Its value stays what a person chose; ``style.css`` shows no tick on it meanwhile.
    """
    rests = bool(caveat(example, model))
    return gr.update(interactive=not rests, info=RESTS if rests else "")


def panel(switch: gr.Checkbox, model: str) -> Habits:
    """``switch``: the one of :func:`live`. The built-in model cannot hold a conversation."""
    both = gr.Checkbox(True, label="Ask with all tokens, too", interactive=True)
    able = model != BUILT_IN
    remember = gr.Checkbox(
        False, label="Remember this conversation", interactive=True, visible=able
    )
    forget = gr.Button("New conversation", size="sm", visible=False)
    log: Any = gr.HTML(
        [], apply_default_css=False, html_template=LOG_HTML, js_on_load=LOG_JS, visible=False
    )
    return Habits(switch, both, remember, forget, log)


def wire(
    engine: Engine, shared: Shared, panel: Habits, tuned: list[Any], preview: Previews
) -> None:
    """``tuned``: the events of ``preview`` that have shown the tokens under moved settings."""

    def on_tuned(user: gr.Request, values: Values) -> Iterator[Changes]:
        yield from or_nothing(changes(owner(user), shared.unpacked(values)))

    def on_seen(user: gr.Request, values: Values) -> Iterator[Changes]:
        yield from on_tuned(user, values) if LIVE in values[preview.late] else or_nothing(())

    def changes(page: str, values: Values) -> Iterator[Changes]:
        request, both = shared.request(values), shared.sides(values)
        if not values[panel.live] or caveat(request.example, request.model):
            return  # words that mean nothing are given on demand only
        if not is_at_hand(engine, request, both) or request.model in shared.recordings:
            return  # its preview has just begun; there are no new words
        if asking.is_slow(engine, request.model):
            yield {panel.live: False, shared.notice: message(SLOW)}
            return
        for update in asking.ask_live(engine, page, request, both, shared.habits_of(values)):
            yield shared.changes(update, both.turn)

    outputs, also = [panel.live, *shared.previewed], [panel.live, preview.late]
    # The one before may not be over yet; it ends by itself.
    how: Any = {"trigger_mode": "always_last", **IN_LINE}
    for event in tuned:
        shared.after(event.success, on_tuned, outputs, also, **how)
    shared.after(preview.lasting.success, on_seen, outputs, also, **how)

    def on_remember(on: bool) -> Changes:
        return {
            panel.forget: gr.update(visible=on),
            panel.log: gr.update(value=[], visible=on),
            shared.exchanges: [],
        }

    parts = [panel.forget, panel.log, shared.exchanges]
    panel.remember.input(on_remember, panel.remember, parts, **AT_ONCE)
    panel.forget.click(lambda: ([], []), None, [panel.log, shared.exchanges], **AT_ONCE)
    shared.exchanges.change(lambda exchanges: exchanges, shared.exchanges, panel.log, **AT_ONCE)

    model, clip = shared.settings["model"], shared.settings["clip"]

    def on_known(values: Values) -> Changes:
        example = shared.examples.get(values[clip])
        return {panel.live: resting(example, values[model])}

    def on_model(values: Values) -> Changes:
        able = values[model] != BUILT_IN
        remember = {panel.remember: gr.update(visible=able, value=False)}
        return remember | on_remember(False) | on_known(values)

    model.change(on_model, {model, clip}, [panel.live, panel.remember, *parts], **AT_ONCE)
    # Ready questions are of clips that the built-in model knows: they change whenever that does.
    shared.ready.change(on_known, {model, clip}, panel.live, **AT_ONCE)
