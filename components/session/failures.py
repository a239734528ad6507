"""Wrong answers of the evaluation on Glimpse, and the clips that they were given about.

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
_WRITING = Lock()  # two visitors may open the same clip at once


@cache
def known() -> dict[str, Any]:
    """Return ``questions``, text and right answer by item, and ``wrong``.

    ``wrong``: the answer by method, retention ratio and item. An item is seed/split/clip/question.
    """
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def is_known(method: Any, ratio: Any, item: Any) -> bool:
    """Whether a page names a failure that is in the list; it may send anything."""
    names = (method, ratio, item)
    if not all(isinstance(name, str) for name in names):
        return False
    return item in known()["wrong"].get(method, {}).get(ratio, {})


def example_of(item: str, folder: Path) -> Example:
    """Return the clip of a known item with its question; the clip is written where it is not."""
    from gleanvid.glimpse.questions.clips import clip_name
    from gleanvid.glimpse.questions.make import write_example
    from gleanvid.glimpse.world.world import ClipSettings

    seed, split, index, _ = item.split("/")
    settings = ClipSettings()
    path = folder / f"{clip_name(int(seed), split, int(index), settings.version)}.mp4"
    with _WRITING:
        if not path.with_suffix(".json").is_file():  # it is written last
            folder.mkdir(parents=True, exist_ok=True)
            write_example(int(seed), split, int(index), settings, path)
    question, _ = known()["questions"][item]
    return Example(path, path.stem, question, truths(path.with_suffix(".json")))
