"""Read and write lists of questions.

A list has one question a line, as text or as the JSON that ``gleanvid glimpse make`` writes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from itertools import islice
from typing import Any

from ..examples import Example

# Of each question: its text, the right answer if known, and the file name of its clip. The file
# name is "" for the clip that the page shows.
Listed = Sequence[tuple[str, str | None, str]]

FILE_BYTES = 4_000_000  # maximum number of bytes read from a file of questions
LINES = 20_000  # maximum number of lines read from a file; parsing more delays other visitors


def in_lines(text: str, known: Listed = ()) -> Listed:
    """Read one question a line; each takes its right answer and clip from ``known``, if there."""
    left = list(known)
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        row = next((row for row in left if row[0] == line), None)
        if row:
            left.remove(row)
        found.append(row or (line, None, ""))
    return found


def of_clips(clips: Sequence[Example], most: int) -> Listed:
    """Return at most ``most`` questions with known answers about the clips.

    Every clip contributes about equally many, spread evenly over its list of questions.
    """
    each = max(1, most // max(1, len(clips)))
    found: list[tuple[str, str | None, str]] = []
    for clip in clips:
        step = max(1, len(clip.questions) // each)
        chosen = clip.questions[::step][:each]
        found += [(text, truth, clip.path.name) for text, truth in chosen]
    return found[:most]


def in_file(text: str, clips: Collection[str]) -> Listed:
    """Read the questions of a file, at most ``LINES`` lines.

    Each line is a question or a JSON object. An object has the question as
    "question" or "text", and may have "answer" and "clip". It is left out if it has a "clip" that
    is not one of the file names ``clips``.
    """
    lines = islice(filter(str.strip, text.splitlines()), LINES)
    found = [_row(line, clips) for line in lines]
    return [row for row in found if row]


def _row(line: str, clips: Collection[str]) -> tuple[str, str | None, str] | None:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError):  # RecursionError: the JSON is nested too deep
        row = None
    if not isinstance(row, dict):
        return line.strip(), None, ""
    question = str(row.get("question") or row.get("text") or "").strip()
    clip, answer = str(row.get("clip", "")), row.get("answer")
    if not question or (clip and clip not in clips):
        return None
    return question, None if answer is None else str(answer).strip() or None, clip
