"""The example clips, and the questions whose right answers are known."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from gleanvid.glimpse.mark import is_marked, is_of_glimpse

from ..places import ASSETS
from .local import BUILT_IN, PHOTOS

FOLDER = ASSETS / "clips"
Models = Sequence[tuple[str, str]]
READY = 4  # maximum number of questions suggested for an example


class Example(NamedTuple):
    path: Path
    title: str
    question: str
    questions: tuple[tuple[str, str], ...] = ()  # (question, right answer) pairs
    offered: tuple[str, ...] = ()  # suggested questions; if empty, some of ``questions``

    @property
    def facts(self) -> Path:
        """Return the path of the JSON file with a Glimpse clip's scene, questions and answers."""
        return self.path.with_suffix(".json")

    @property
    def has_forms(self) -> bool:
        """Whether the file is a clip of Glimpse, whose questions have a fixed set of wordings."""
        return is_of_glimpse(self.path)

    @property
    def is_glimpse(self) -> bool:
        """Whether the clip is Glimpse's, so that the built-in model can answer about it."""
        return bool(self.questions) or self.has_forms

    def expected(self, question: str) -> str | None:
        """Return the right answer to a known question."""
        return dict(self.questions).get(question.strip())


def examples(folder: Path = FOLDER) -> list[Example]:
    """Return the example clips that ``clips.json`` in ``folder`` lists."""
    index = folder / "clips.json"
    listed = json.loads(index.read_text(encoding="utf-8")) if index.is_file() else []
    return [
        Example(
            path,
            item["title"],
            item["question"],
            truths(path.with_suffix(".json")),
            tuple(item.get("offered", ())),
        )
        for item in listed
        for path in [folder / item["file"]]
    ]


def files(examples: Sequence[Example]) -> list[Path]:
    """Return the clips and thumbnails that Gradio must not copy: the server deletes old copies."""
    pictures = [Path(picture) for example in examples if (picture := thumbnail(example.path))]
    return [*(example.path for example in examples), *pictures]


def thumbnail(clip: Path) -> str | None:
    picture = clip.with_suffix(".jpg")
    return str(picture) if picture.is_file() else None


def truths(facts: Path) -> tuple[tuple[str, str], ...]:
    """Return the (question, right answer) pairs in a clip's JSON file, each question once."""
    if not facts.is_file():
        return ()
    found: dict[str, tuple[str, str]] = {}
    for item in json.loads(facts.read_text(encoding="utf-8")).get("questions", []):
        text, answer = item.get("question") or item.get("text"), item.get("answer")
        if text and answer:
            found.setdefault(text, (text, str(answer)))
    return tuple(found.values())


def ready(example: Example | None) -> list[str]:
    """Return the suggested questions of an example."""
    if example is None:
        return []
    known = [text for text, _ in example.questions]
    step = max(1, len(known) // READY)
    return list(example.offered or known[::step][:READY])


def model_for(example: Example | None, chosen: str, offered: Collection[str]) -> str:
    """Return the model to use for a clip if the model ``chosen`` is selected on the page.

    The built-in model is for Glimpse clips, the photo encoder for all other clips. If one of them
    is chosen for the wrong kind of clip, the other is used, if the page offers it. Any other model
    is used for every clip.
    """
    wanted = BUILT_IN if example and example.is_glimpse else PHOTOS
    return wanted if {chosen, wanted} <= {BUILT_IN, PHOTOS} & set(offered) else chosen


def models_for(example: Example | None, models: Models) -> Models:
    """Return the models of the menu for a clip, as (label, name) pairs.

    The built-in model is left out for a clip that is not Glimpse's if the photo encoder is there.
    """
    known = bool(example and example.is_glimpse) or PHOTOS not in [name for _, name in models]
    return [pair for pair in models if known or pair[1] != BUILT_IN]


def uploaded(path: str | None) -> Example | None:
    """Return an uploaded Glimpse clip as an example without known answers; None for other clips."""
    return Example(Path(path), "", "") if path and is_marked(Path(path)) else None


def example_of(examples: Sequence[Example], path: str | None) -> Example | None:
    """Return the example whose file has the same name and size as ``path``, or None."""
    file = Path(path or "")
    for example in examples:
        if file.name == example.path.name and file.is_file():
            return example if file.stat().st_size == example.path.stat().st_size else None
    return None
