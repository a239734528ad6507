"""Wrong answers of compressors in the evaluation on Glimpse, with their clips and questions.

``assets/failures.json`` is written by ``tools/failures.py``.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from ..places import ASSETS
from .examples import Example, truths

FILE = ASSETS / "failures.json"
_WRITING = Lock()  # held while a clip is rendered: two visitors may open the same clip


@cache
def known() -> dict[str, Any]:
    """Return the wrong answers of the evaluation.

    Each question of the evaluation has a key: seed/split/clip/question. "questions": text and right
    answer of each question, by its key. "wrong": wrong answers by compressor, retention ratio and
    key. "asked": number of questions asked, by compressor and ratio; only questions that the model
    answers correctly with all tokens count.
    """
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def is_known(method: Any, ratio: Any, item: Any) -> bool:
    """Whether the evaluation has this wrong answer; ``item``: key of the question.

    The arguments come from a page, so they may be malformed; then it is False.
    """
    names = (method, ratio, item)
    if not all(isinstance(name, str) for name in names):
        return False
    return item in known()["wrong"].get(method, {}).get(ratio, {})


def file_name(item: str) -> str:
    """Return the file name of a clip by question key, such as "glimpse-0-test-00010.mp4"."""
    from gleanvid.glimpse.questions.clips import clip_name
    from gleanvid.glimpse.world.world import ClipSettings

    seed, split, index, _ = item.split("/")
    return f"{clip_name(int(seed), split, int(index), ClipSettings().version)}.mp4"


def item_of(name: str) -> str | None:
    """Return the key of a question about the clip file ``name``; None for an unknown clip."""
    return next((item for item in known()["questions"] if file_name(item) == name), None)


def example_of(item: str, folder: Path) -> Example:
    """Return clip and question of the key ``item``; renders a missing clip into ``folder``."""
    from gleanvid.glimpse.questions.make import write_example
    from gleanvid.glimpse.world.world import ClipSettings

    seed, split, index, _ = item.split("/")
    settings = ClipSettings()
    path = folder / file_name(item)
    with _WRITING:
        # The JSON file is written after the clip, so if it is there, the clip is complete.
        if not path.with_suffix(".json").is_file():
            folder.mkdir(parents=True, exist_ok=True)
            write_example(int(seed), split, int(index), settings, path)
    question, _ = known()["questions"][item]
    return Example(path, path.stem, question, truths(path.with_suffix(".json")))
