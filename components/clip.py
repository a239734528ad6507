"""The clip: upload one, or take an example."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import gradio as gr

LIMITS = "MP4, MOV, MKV, AVI, WebM · up to {size} MB"


class Example(NamedTuple):
    path: Path
    title: str
    question: str


FOLDER = Path(__file__).resolve().parent.parent / "assets" / "clips"


def examples(folder: Path = FOLDER) -> list[Example]:
    """The clips that ``clips.json`` lists: file, title and a question to start with."""
    index = folder / "clips.json"
    listed = json.loads(index.read_text(encoding="utf-8")) if index.is_file() else []
    return [Example(folder / item["file"], item["title"], item["question"]) for item in listed]


class Clip(NamedTuple):
    video: gr.Video
    examples: list[gr.Button]


def panel(shown: Sequence[Example], max_mb: int) -> Clip:
    """A player that takes uploads, and one button with a picture for each example."""
    video = gr.Video(
        value=str(shown[0].path) if shown else None,
        label="Clip",
        show_label=False,
        sources=["upload"],
        height=220,
        interactive=True,
        buttons=[],
        elem_id="gv-clip",
    )
    gr.Markdown(LIMITS.format(size=max_mb), elem_classes="gv-hint")
    with gr.Row(elem_classes="gv-examples"):
        buttons = [
            gr.Button(example.title, icon=thumbnail(example.path), size="sm", min_width=90)
            for example in shown
        ]
    return Clip(video, buttons)


def thumbnail(clip: Path) -> str | None:
    """The small picture beside a clip, where there is one."""
    picture = clip.with_suffix(".jpg")
    return str(picture) if picture.is_file() else None
