"""Question, streamed answers with one line of cost under each, and messages to the person.

Model output, questions and file names reach the page through ``textContent`` alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gradio as gr

from components.panels.settings import LONGEST
from components.viewer.packing import labels
from gleanvid.run import Cost, Run

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
NOTICE_HTML = """<p class="gv-notice" data-kind="quiet" role="status"></p>"""
NOTICE_JS = """
const line = element.querySelector(".gv-notice");
const show = () => {
  const { text = "", kind = "quiet" } = props.value || {};
  line.textContent = text;
  line.dataset.kind = kind;
};
watch("value", show);
show();
"""
SAVED = "A saved result. Press Ask to run it on this computer."
TURNS_READ = 6  # earlier turns that the model reads again
NO_WORDS = "(The model gave no words.)"
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


def panel(question: str, turns: list[dict[str, Any]]) -> Talk:
    """``turns`` are shown at once; see :func:`turn`."""
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
    notice = notice_line(SAVED if turns else "")
    answers = gr.HTML(
        turns, apply_default_css=False, html_template=ANSWERS_HTML, js_on_load=ANSWERS_JS
    )
    note = gr.Markdown(BUILT_IN_NOTE, elem_classes="gv-note")
    return Talk(box, ask, again, stop, notice, answers, note)


def notice_line(text: str = "") -> gr.HTML:
    """The place of a :func:`message`."""
    return gr.HTML(
        message(text), apply_default_css=False, html_template=NOTICE_HTML, js_on_load=NOTICE_JS
    )


def message(text: str = "", kind: str = "quiet") -> dict[str, str]:
    """A line for the person: ``kind`` is quiet (progress) or problem."""
    return {"text": text, "kind": kind}


def turn(
    question: str,
    answer: str,
    run: Run | None = None,
    expected: str | None = None,
    running: bool = False,
    run_id: str = "",
) -> dict[str, Any]:
    """One question and its answer: with its run what it cost, and the truth where it is known."""
    return {
        "question": question,
        "answer": answer if running or answer.strip() else NO_WORDS,
        "expected": expected,
        "by": labels([run])[0] if run else "",
        "cost": cost_line(run.cost) if run else [],
        "running": running,
        "id": run_id,
    }


def spoken(item: Mapping[str, Any]) -> str:
    """The model's own words in a turn, which may be none."""
    return "" if item["answer"] == NO_WORDS else str(item["answer"]).strip()


def history(turns: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """(question, answer) of the turns that the model reads again."""
    said = [(item["question"], spoken(item)) for item in turns]
    return [pair for pair in said if all(pair)][-TURNS_READ:]


def cost_line(cost: Cost) -> list[tuple[str, str]]:
    """(label, figure) pairs, in the order of the work: tokens, time, memory, arithmetic."""
    layers = cost.visual_tokens_by_layer or (cost.visual_tokens_kept,)
    share = f"{cost.average_retention:.0%}" + " over the layers" * (min(layers) != max(layers))
    return [
        (
            "visual tokens",
            f"{cost.visual_tokens_kept:,} of {cost.visual_tokens:,} ({share})",
        ),
        ("to first token", f"{cost.ttft_s:.2f} s"),
        ("tokens/s", f"{cost.tokens_per_s:.1f}"),
        ("compress", f"{1000 * cost.compress_s:.1f} ms"),
        ("peak memory", f"{cost.peak_memory_mib:,.0f} MiB"),
        ("prefill FLOPs", f"−{cost.flops_reduction:.0%}"),
    ]
