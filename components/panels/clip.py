"""The clip: upload one, or take an example with its ready questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr

from components.panels.settings import LONGEST

LIMITS = (
    "MP4, MOV, MKV, AVI, WebM · up to {size} MB, 6 hours, 8K. At most {frames} frames are used, "
    "spread evenly over the clip; sound is not."
)
FOLDER = Path(__file__).resolve().parents[2] / "assets" / "clips"
READY = 4  # questions offered for an example
CHIPS_HTML = """<div class="gv-chips" role="group" aria-label="Ready questions"></div>"""
CHIPS_JS = """
const list = element.querySelector(".gv-chips");
const show = () => list.replaceChildren(...(props.value || []).map((text) => {
  const chip = Object.assign(document.createElement("button"), {
    type: "button", className: "gv-chip", textContent: text,
  });
  chip.addEventListener("click", () => trigger("pick", { text }));
  return chip;
}));
watch("value", show);
show();
"""


class Example(NamedTuple):
    path: Path
    title: str
    question: str
    questions: tuple[tuple[str, str], ...] = ()  # (question, answer) known to be right


class Clip(NamedTuple):
    video: gr.Video
    examples: list[gr.Button]
    ready: gr.HTML  # its event ``pick`` carries the text of a question


def examples(folder: Path = FOLDER) -> list[Example]:
    """The clips that ``clips.json`` lists: file, title and a question to start with."""
    index = folder / "clips.json"
    listed = json.loads(index.read_text(encoding="utf-8")) if index.is_file() else []
    return [
        Example(path, item["title"], item["question"], truths(path.with_suffix(".json")))
        for item in listed
        for path in [folder / item["file"]]
    ]


def files(shown: Sequence[Example]) -> list[Path]:
    """What the page shows of the examples. Static: copies would be deleted by their age."""
    pictures = [Path(picture) for example in shown if (picture := thumbnail(example.path))]
    return [*(example.path for example in shown), *pictures]


def truths(facts: Path) -> tuple[tuple[str, str], ...]:
    """(question, answer) pairs that were made together with a clip, one wording of each kind."""
    if not facts.is_file():
        return ()
    found: dict[str, tuple[str, str]] = {}
    for item in json.loads(facts.read_text(encoding="utf-8")).get("questions", []):
        text, answer = item.get("question") or item.get("text"), item.get("answer")
        if text and answer:
            found.setdefault(text, (text, str(answer)))
    return tuple(found.values())


def ready(example: Example | None) -> list[str]:
    """The questions to offer for a clip, spread over all that are known."""
    known = [text for text, _ in example.questions] if example else []
    step = max(1, len(known) // READY)
    return known[::step][:READY]


def example_of(shown: Sequence[Example], path: str | None) -> Example | None:
    """The example that a file is: of the same name and size."""
    file = Path(path or "")
    for example in shown:
        if file.name == example.path.name and file.is_file():
            return example if file.stat().st_size == example.path.stat().st_size else None
    return None


def expected(shown: Sequence[Example], path: str | None, question: str) -> str | None:
    """The right answer, where clip and question are ones of ours."""
    example = example_of(shown, path)
    return dict(example.questions).get(question.strip()) if example else None


def panel(shown: Sequence[Example], max_mb: int, max_frames: int) -> Clip:
    """A player that takes uploads, and one button with a picture for each example."""
    video = gr.Video(
        value=str(shown[0].path) if shown else None,
        label="Clip",
        show_label=False,
        sources=["upload"],
        height=180,
        interactive=True,
        buttons=[],
        elem_id="gv-clip",
    )
    gr.Markdown(LIMITS.format(size=max_mb, frames=max_frames), elem_classes="gv-hint")
    with gr.Row(elem_classes="gv-examples"):
        buttons = [
            gr.Button(example.title, icon=thumbnail(example.path), size="sm", min_width=90)
            for example in shown
        ]
    first = ready(shown[0]) if shown else []
    return Clip(video, buttons, chips(first))


def thumbnail(clip: Path) -> str | None:
    """The small picture beside a clip, where there is one."""
    picture = clip.with_suffix(".jpg")
    return str(picture) if picture.is_file() else None


def chips(texts: Sequence[str]) -> gr.HTML:
    return gr.HTML(
        list(texts),
        apply_default_css=False,
        html_template=CHIPS_HTML,
        js_on_load=CHIPS_JS,
        elem_id="gv-ready",
    )


def picked(event: gr.EventData) -> Any:
    """The question on the chip that was pressed; what a page sends is cut to a question's size."""
    return str(getattr(event, "text", ""))[:LONGEST]
