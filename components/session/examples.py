"""The example clips, and the questions whose right answers are known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "clips"
READY = 4  # questions offered for an example


class Example(NamedTuple):
    path: Path
    title: str
    question: str
    questions: tuple[tuple[str, str], ...] = ()  # (question, answer) known to be right


def examples(folder: Path = FOLDER) -> list[Example]:
    """The clips that ``clips.json`` lists: file, title and a question to start with."""
    index = folder / "clips.json"
    listed = json.loads(index.read_text(encoding="utf-8")) if index.is_file() else []
    return [
        Example(path, item["title"], item["question"], truths(path.with_suffix(".json")))
        for item in listed
        for path in [folder / item["file"]]
    ]


def files(examples: Sequence[Example]) -> list[Path]:
    """What the page shows of the examples. Static: copies would be deleted by their age."""
    pictures = [Path(picture) for example in examples if (picture := thumbnail(example.path))]
    return [*(example.path for example in examples), *pictures]


def thumbnail(clip: Path) -> str | None:
    """The small picture beside a clip, where there is one."""
    picture = clip.with_suffix(".jpg")
    return str(picture) if picture.is_file() else None


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


def example_of(examples: Sequence[Example], path: str | None) -> Example | None:
    """The example that a file is: of the same name and size."""
    file = Path(path or "")
    for example in examples:
        if file.name == example.path.name and file.is_file():
            return example if file.stat().st_size == example.path.stat().st_size else None
    return None


def expected(examples: Sequence[Example], path: str | None, question: str) -> str | None:
    """The right answer, where clip and question are ones of ours."""
    example = example_of(examples, path)
    return dict(example.questions).get(question.strip()) if example else None
