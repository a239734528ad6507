"""The question, its streamed answers with a line of cost under each, and stopping them.

Model output, questions and file names reach the page through ``textContent`` alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import gradio as gr

from components.panels import notice
from components.panels.shared import AT_ONCE, Changes, Shared, Values, halted, owner, starting
from components.session import actions
from components.session.display import Exchange
from components.session.engine import Engine
from components.session.examples import Example, expected
from components.session.request import LONGEST

ANSWERS_HTML = """<div class="gv-answers" role="log" aria-label="Answers" tabindex="0"></div>"""
ANSWERS_JS = """
const list = element.querySelector(".gv-answers");
const node = (kind, text) =>
  Object.assign(document.createElement("div"), { className: kind, textContent: text });
const show = () => {
  const turns = props.value || [];
  list.replaceChildren(...turns.map((turn) => {
    const block = node("gv-turn", "");
    block.append(node("gv-question", turn.question), node("gv-answer", turn.answer));
    if (turn.expected) block.append(node("gv-expected", `Expected: ${turn.expected}`));
    block.classList.toggle("gv-running", turn.running);
    const cost = node("gv-cost", "");
    if (turn.by) cost.append(node("gv-by", turn.by));
    cost.append(...turn.cost.map(([label, value]) => {
      const pair = document.createElement("span");
      const figure = Object.assign(document.createElement("b"), { textContent: value });
      pair.append(figure, ` ${label}`);
      return pair;
    }));
    if (turn.cost.length) block.append(cost);
    return block;
  }));
  list.scrollTop = list.scrollHeight;
  window.gvKeep?.("turns", turns.map((turn) => turn.id).filter(Boolean));
};
watch("value", show);
show();
"""
SAVED = "A saved result. Press Ask to run it on this computer."
BUILT_IN_NOTE = (
    "The **built-in model** is tiny and only knows the Glimpse world: coloured shapes that move. "
    "On other clips its words mean nothing; look at the tokens, or load a real checkpoint."
)


class Talk(NamedTuple):
    question: gr.Textbox
    ask: gr.Button
    again: gr.Button
    stop: gr.Button
    notice: gr.HTML
    answers: gr.HTML
    note: gr.Markdown


def panel(question: str, exchanges: list[Exchange]) -> Talk:
    box = gr.Textbox(
        value=question,
        label="Question",
        placeholder="What moves, and where to?",
        lines=1,
        max_lines=4,
        max_length=LONGEST,
        interactive=True,
        elem_id="gv-question",
    )
    with gr.Row(elem_classes="gv-send"):
        ask = gr.Button("Ask", variant="primary", scale=3, min_width=120, elem_id="gv-ask")
        again = gr.Button("Regenerate", scale=1, min_width=100, elem_id="gv-again")
        stop = gr.Button("Stop", interactive=False, scale=1, min_width=70, elem_id="gv-stop")
    line = notice.panel(SAVED if exchanges else "")
    answers = gr.HTML(
        exchanges, apply_default_css=False, html_template=ANSWERS_HTML, js_on_load=ANSWERS_JS
    )
    note = gr.Markdown(BUILT_IN_NOTE, elem_classes="gv-note")
    return Talk(box, ask, again, stop, line, answers, note)


def wire(engine: Engine, shared: Shared, panel: Talk, examples: Sequence[Example]) -> None:
    def run(user: gr.Request, text: str, values: Values, again: bool) -> Iterator[Changes]:
        request = shared.request(values)
        truth = expected(examples, request.path, text)
        earlier, before = values[shared.exchanges], values[shared.runs] or []
        updates = actions.ask(engine, owner(user), request, text, earlier, truth, before, again)
        yield from map(shared.changes, updates)

    def on_ask(user: gr.Request, values: Values) -> Iterator[Changes]:
        yield from run(user, values[panel.question] or "", values, again=False)

    def on_again(user: gr.Request, values: Values) -> Iterator[Changes]:
        earlier = values[shared.exchanges]
        last = earlier[-1]["question"] if earlier else values[panel.question] or ""
        yield from run(user, last, values, again=True)

    inputs = {panel.question, shared.exchanges, shared.runs, *shared.asked}
    picked = shared.ready.pick(on_pick, None, panel.question, **AT_ONCE)  # type: ignore[attr-defined]
    clicked = partial(gr.on, [panel.ask.click, panel.question.submit])
    runs = [
        starting(event, engine, shared, panel.notice, handler, inputs, shared.changed)
        for event, handler in (
            (clicked, on_ask),
            (panel.again.click, on_again),
            (picked.then, on_ask),
        )
    ]

    def on_stop(user: gr.Request) -> Changes:
        return gr.skip() if halted(engine, user) else shared.changes(actions.STOPPED)

    # The flag first: it frees the model. Cancelling only ends an event that does not end itself.
    ended = panel.stop.click(on_stop, None, shared.changed, **AT_ONCE)
    ended.then(None, None, None, cancels=runs)


def on_pick(event: gr.EventData) -> str:
    """The question on the chip that was pressed; what a page sends is cut to a question's size."""
    return str(getattr(event, "text", ""))[:LONGEST]
