"""What people hand over, as the values that the library works on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from gleanvid.models.encoded import History
from gleanvid.pipeline import MAX_SIDE
from gleanvid.types import Video
from gleanvid.video import read_video
from gleanvid.video.decoders.still import as_video, is_picture, read_picture
from gleanvid.video.reader import Backend


class Picture(Protocol):
    """A picture of Pillow."""

    def convert(self, mode: str) -> Any: ...


Clip = str | Path | Video | np.ndarray | Picture  # see ``gleanvid.ask``


def as_clip(given: Any, num_frames: int, backend: Backend = "pyav") -> Video:
    """Raises ``VideoError`` for a file that cannot be used, ``TypeError`` for what is no clip."""
    if not isinstance(given, (str, Path)):
        return as_video(given)
    if is_picture(given):
        return read_picture(given, MAX_SIDE)
    return read_video(given, num_frames, backend=backend, max_side=MAX_SIDE)


def as_questions(given: str | Sequence[str]) -> list[str]:
    """One or several. Raises ``TypeError`` for what is no text and ``ValueError`` without any."""
    questions: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given]
    for question in questions:
        if not isinstance(question, str):
            raise TypeError(f"question={question!r} must be text")
    if not questions or not all(question.strip() for question in questions):
        raise ValueError("question must not be empty")
    return questions


def as_history(given: Any) -> History:
    """Earlier turns. Raises ``TypeError`` for what are no pairs of text."""
    several = isinstance(given, Sequence) and not isinstance(given, str)
    turns: list[Any] = list(given) if several else [given]
    pairs = [turn for turn in turns if isinstance(turn, (list, tuple)) and len(turn) == 2]
    if len(pairs) < len(turns) or not all(isinstance(part, str) for pair in pairs for part in pair):
        raise TypeError(
            f"history={given!r} must be (question, answer) pairs of text, such as "
            '[("What moves?", "A red star.")]'
        )
    return [(question, answer) for question, answer in pairs]
