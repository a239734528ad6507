"""Lists of questions as text: one a line, or the JSON Lines of ``gleanvid glimpse make``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Listed = list[tuple[str, str | None]]  # questions with their right answers, where known

FILE_BYTES = 4_000_000  # of a file that are read


def in_lines(text: str) -> Listed:
    """Read one question a line, with the right answer after a ``|``."""
    lines = [line.partition("|") for line in text.splitlines() if line.strip()]
    return [(question.strip(), truth.strip() or None) for question, _, truth in lines]


def as_lines(listed: Sequence[tuple[str, str | None]]) -> str:
    """Return what :func:`in_lines` reads."""
    return "\n".join(f"{text} | {truth}" if truth else text for text, truth in listed)


def in_file(text: str, path: str) -> Listed:
    """Read the questions of a file: JSON Lines, or lines as :func:`in_lines`.

    A line of JSON has "question" or "text", and may have "answer" and "clip"; it is left out if
    its clip is not the file at ``path``, by name.
    """
    found = [_row(line, Path(path).name) for line in text.splitlines() if line.strip()]
    return [row for row in found if row]


def _row(line: str, clip: str) -> tuple[str, str | None] | None:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError):  # RecursionError: brackets nested too deep
        row = None
    if not isinstance(row, dict):
        return in_lines(line)[0]
    question = str(row.get("question") or row.get("text") or "").strip()
    if not question or row.get("clip", clip) != clip:
        return None
    answer = row.get("answer")
    return question, None if answer is None else str(answer).strip() or None
