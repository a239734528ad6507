"""A list of your own questions: a CSV, JSON or JSON Lines file with one question a row.

Each row has these columns:

- ``clip``: path of the video, relative to the folder of the list;
- ``question``;
- ``options``: in JSON a list of texts; in CSV one cell with the texts, separated by ``;``;
- ``answer``: the text of the right option, or its letter, such as "B";
- ``group`` (may be missing): a column of the results table in which the question counts.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from gleanvid.api.pipeline import MAX_SIDE
from gleanvid.evaluation.benchmarks.base import Benchmark, BenchmarkError, Item, chosen, letter
from gleanvid.types import Video
from gleanvid.video import read_video

_COLUMNS = ("clip", "question", "options", "answer")
# "B", "(B)", "B. red", "The answer is B"
_LETTER = re.compile(r"(?:.*\b(?:answer|option)\b(?: is)?:?\s*)?\(?([A-Z])(?:[).:,].*|\s*)", re.S)


@dataclass(frozen=True)
class OwnList(Benchmark):
    """The questions of the file ``questions``: see the text of this module for its format."""

    name: ClassVar[str] = "list"
    how: ClassVar[str] = "letter"
    ways: ClassVar[tuple[str, ...]] = ("letter", "likelihood", "text")

    questions: str = field(default="", metadata={"help": "CSV, JSON or JSON Lines file"})

    def items(self, limit: int | None = None, seed: int = 0) -> list[Item]:
        found = chosen(self.every(), limit, seed)
        for item in found:
            if not self._path(item.clip).is_file():
                raise BenchmarkError(f"row {item.id} of {self._file}: there is no clip {item.clip}")
        return found

    def every(self) -> list[Item]:
        """Return all questions, without looking for their clips."""
        return [self._item(number, row) for number, row in enumerate(_rows(self._file), 1)]

    def video(self, clip: str, num_frames: int) -> Video:
        return read_video(self._path(clip), num_frames, max_side=MAX_SIDE)

    def right(self, item: Item, response: str) -> bool:
        """Return whether a response is the right option's text or names its letter."""
        said = response.strip()
        if said.casefold().rstrip(".") == item.right_option.casefold().rstrip("."):
            return True
        found = _LETTER.fullmatch(said)
        return found is not None and found[1] == letter(item.answer)

    def settings(self) -> dict[str, Any]:
        """Return the name of the list, and a hash of its content in place of its path."""
        digest = hashlib.sha256(self._file.read_bytes()).hexdigest()[:16]
        return {"benchmark": self.name, "questions": self._file.name, "content": digest}

    @property
    def _file(self) -> Path:
        if not self.questions:
            raise BenchmarkError("questions: name the CSV or JSON file with your questions")
        return Path(self.questions).expanduser()

    def _path(self, clip: str) -> Path:
        return self._file.parent / clip

    def _item(self, number: int, row: Any) -> Item:
        place = f"row {number} of {self._file.name}"
        if not isinstance(row, Mapping) or not all(row.get(name) for name in _COLUMNS):
            raise BenchmarkError(f"{place} must have the columns {', '.join(_COLUMNS)}")
        clip, question, options, answer = (row[name] for name in _COLUMNS)
        if isinstance(options, str):
            options = options.split(";")
        texts = tuple(str(option).strip() for option in options)
        names = [*texts, *map(letter, range(len(texts)))]
        if len(texts) < 2 or str(answer).strip() not in names:
            raise BenchmarkError(
                f"{place}: answer={answer!r} must be one of the options {list(texts)}, at least "
                "two, or its letter"
            )
        right = names.index(str(answer).strip()) % len(texts)
        groups = (str(row["group"]),) if row.get("group") else ()
        return Item(str(number), str(clip), str(question), texts, right, groups)


def _rows(path: Path) -> list[Any]:
    """Return the rows of a list. Raises ``BenchmarkError`` if there are none."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".csv":
            rows: Any = list(csv.DictReader(io.StringIO(text)))
        elif path.suffix == ".jsonl":
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
        else:
            rows = json.loads(text)
    except (OSError, ValueError) as error:
        raise BenchmarkError(f"{path.name} cannot be read: {error}") from error
    if not isinstance(rows, list) or not rows:
        raise BenchmarkError(f"{path.name} must contain a list of questions")
    return rows
