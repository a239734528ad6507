"""What people hand over, as the values that the library works on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from gleanvid.pipeline import MAX_SIDE
from gleanvid.types import Video
from gleanvid.video import read_video
from gleanvid.video.still import as_video, is_picture, read_picture


class Picture(Protocol):
    """A picture of Pillow."""

    def convert(self, mode: str) -> Any: ...


Clip = str | Path | Video | np.ndarray | Picture  # see ``gleanvid.ask``


def as_clip(given: Any, num_frames: int) -> Video:
    """Raises ``VideoError`` for a file that cannot be used, ``TypeError`` for what is no clip."""
    if not isinstance(given, (str, Path)):
        return as_video(given)
    if is_picture(given):
        return read_picture(given, MAX_SIDE)
    return read_video(given, num_frames, max_side=MAX_SIDE)


def as_questions(given: str | Sequence[str]) -> list[str]:
    """One or several. Raises ``TypeError`` for what is no text and ``ValueError`` without any."""
    questions: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given]
    for question in questions:
        if not isinstance(question, str):
            raise TypeError(f"question={question!r} must be text")
    if not questions or not all(question.strip() for question in questions):
        raise ValueError("question must not be empty")
    return questions
