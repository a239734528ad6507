"""Check the arguments of the public functions and convert them to the library's types."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from gleanvid.api.pipeline import MAX_SIDE
from gleanvid.models import load_model
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import ClipKey, History
from gleanvid.models.generation.context import checked_max_pixels
from gleanvid.models.generation.sampling import Sampling
from gleanvid.types import Video
from gleanvid.video import read_video
from gleanvid.video.plan import check_span
from gleanvid.video.reader import Backend


class Picture(Protocol):
    """Protocol of a Pillow image."""

    def convert(self, mode: str) -> Any:
        """Return the image in another mode, such as "RGB"."""


Clip = str | Path | Video | np.ndarray | Picture  # type of ``video``; see ``gleanvid.ask``


@dataclass(frozen=True)
class Frames:
    """Which frames are sampled from a video file, and how large they may be.

    Args:
        num_frames: number of frames to sample from a video file; frames in memory are all used.
        max_pixels: bound on the pixels of all frames together as the model sees them; None takes
            the bound that the model was loaded with.
        backend: decoder of a file: "pyav", "torchcodec", "decord" or "opencv".
        start: second of the file from which frames are sampled; None: the beginning. Timestamps
            still count from the beginning of the file.
        end: second of the file up to which frames are sampled; None: its end.

    Raises:
        ValueError: ``max_pixels`` is no positive whole number, or 0 <= start < end does not hold.

    >>> frames = Frames(8, backend="opencv")
    >>> run = ask("assets/clips/glimpse_1.mp4", "What is there?", frames=frames)
    >>> len(run.video), run.video.backend
    (8, 'opencv')
    """

    num_frames: int = 32
    max_pixels: int | None = None
    backend: Backend = "pyav"
    start: float | None = None
    end: float | None = None

    def __post_init__(self) -> None:
        check_span(self.start, self.end)
        checked_max_pixels(self.max_pixels)


FRAMES = Frames()
BUILT_IN = "builtin"
_INSTEAD = 'To ask freely, load a Video LLM: model="HuggingFaceTB/SmolVLM2-256M-Video-Instruct".'
NOT_DRAWN = (
    "The built-in model only knows the drawn clips of Glimpse: its answer about {name} means "
    f"nothing. {_INSTEAD}"
)
NO_FORM = (
    "The built-in model only knows the questions of Glimpse: its answer to {question!r} means "
    f"nothing. {_INSTEAD}"
)
Settings = TypeVar("Settings", Sampling, Frames)


def override(settings: Settings, **values: Any) -> Settings:
    """Return a copy of the settings in which ``values`` that are not None replace the old ones."""
    return replace(settings, **{n: value for n, value in values.items() if value is not None})


def as_clip(video: Any, frames: Frames = FRAMES) -> Video:
    """Return a clip as a :class:`Video`: read a file, or wrap frames in memory.

    Raises ``VideoError`` if a file cannot be used, ``TypeError`` if ``video`` is something else.
    """
    if not isinstance(video, (str, Path)):
        return _as_video(video)
    span: Any = {"start": frames.start, "end": frames.end}
    return read_video(video, frames.num_frames, backend=frames.backend, max_side=MAX_SIDE, **span)


def _as_video(given: Any) -> Video:
    """Return a ``Video`` unchanged, or one of a frame uint8 [H, W, 3] or a Pillow image.

    Raises ``TypeError`` for other objects, and ``ValueError`` for other shapes and for several
    frames: they have no times.
    """
    if isinstance(given, Video):
        return given
    if not isinstance(given, np.ndarray):
        if not hasattr(given, "convert"):  # the object is not a Pillow image
            kind = type(given).__name__
            raise TypeError(f"video must be a file, a Video, frames or a picture, not {kind}")
        given = np.asarray(given.convert("RGB"))
    if given.ndim not in (3, 4):
        raise ValueError(f"frames must be uint8 [T, H, W, 3], got {list(given.shape)}")
    return Video.from_frames(given[None] if given.ndim == 3 else given)


def timed_clip(video: Any, frames: Frames) -> tuple[Video, float]:
    """Return the result of :func:`as_clip` and the seconds that it took."""
    started = time.perf_counter()
    clip = as_clip(video, frames)
    return clip, time.perf_counter() - started


def as_model(model: Any) -> ModelAdapter:
    """Return a loaded model unchanged, or load a model by its name.

    Raises ``TypeError`` if ``model`` is neither, ``ModelError`` if it cannot be loaded.
    """
    if isinstance(model, (str, Path)):
        return load_model(model)
    if not (hasattr(model, "encode") and hasattr(model, "generate")):
        kind = type(model).__name__
        raise TypeError(f"model must be a name or what load_model returns, not {kind}")
    adapter: ModelAdapter = model
    return adapter


def as_key(
    video: Any,
    question: Any,
    model: Any,
    frames: Frames,
    history: Any,
    signals: frozenset[str] = frozenset(),
) -> tuple[ClipKey, ModelAdapter, History]:
    """Check the arguments of one question, read its clip and then load its model.

    ``signals``: vision signals to compute, such as "saliency". Raises ``TypeError``,
    ``ValueError``, ``VideoError`` or ``ModelError`` as :func:`gleanvid.ask` does.
    """
    check_questions([question])
    turns = check_history(history)
    clip = as_clip(video, frames)
    adapter = as_model(model)
    adapter.check_can_answer()
    warn_of_nonsense(adapter, video, [question])
    return ClipKey(clip, adapter.name, frames.max_pixels, signals), adapter, turns


def check_questions(question: Any) -> list[str]:
    """Return one question or several as a list.

    Raises ``TypeError`` if a question is not text. Raises ``ValueError`` if a question, or the
    list, is empty.
    """
    questions = list(question) if isinstance(question, (list, tuple)) else [question]
    for question in questions:
        if not isinstance(question, str):
            raise TypeError(f"question={question!r} must be text")
    if not questions or not all(question.strip() for question in questions):
        raise ValueError("question must not be empty")
    return questions


def warn_of_nonsense(model: ModelAdapter, video: Any, questions: Sequence[str]) -> None:
    """Warn if the built-in model is asked about a file or in a form that it does not know."""
    if model.name != BUILT_IN:
        return
    from gleanvid.glimpse.mark import is_of_glimpse
    from gleanvid.glimpse.questions.grammar import read

    is_file = isinstance(video, (str, Path))
    if is_file and not is_of_glimpse(Path(video)):
        warnings.warn(NOT_DRAWN.format(name=Path(video).name), stacklevel=3)
    elif odd := next((text for text in questions if not read(text, count=0).text), ""):
        warnings.warn(NO_FORM.format(question=odd), stacklevel=3)


def check_history(history: Any) -> History:
    """Return the earlier turns as pairs. Raises ``TypeError`` unless they are pairs of text."""
    is_list = isinstance(history, Sequence) and not isinstance(history, str)
    turns: list[Any] = list(history) if is_list else [history]
    pairs = [turn for turn in turns if isinstance(turn, (list, tuple)) and len(turn) == 2]
    if len(pairs) < len(turns) or not all(isinstance(part, str) for pair in pairs for part in pair):
        raise TypeError(
            f"history={history!r} must be (question, answer) pairs of text, such as "
            '[("What moves?", "A red star.")]'
        )
    return [(question, answer) for question, answer in pairs]
