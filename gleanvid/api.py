"""The functions that people call. Keywords are checked here, before a file or a model is opened."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, overload

from gleanvid import models
from gleanvid.compressors import as_compressor
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.following import followed
from gleanvid.given import Clip, as_clip, as_history, as_questions
from gleanvid.models import load_model
from gleanvid.models.base import ModelAdapter
from gleanvid.models.boundary.prefill import Prefill
from gleanvid.models.encoded import ClipKey, History
from gleanvid.models.generation.context import checked_max_pixels
from gleanvid.models.generation.sampling import Sampling
from gleanvid.pipeline import Method, answer, encode
from gleanvid.run import Run
from gleanvid.several import answer_questions, answer_videos
from gleanvid.types import StoppedError, Video


@overload
def ask(video: Clip, question: str, *args: Any, **kwargs: Any) -> Run: ...


@overload
def ask(video: Clip, question: Sequence[str], *args: Any, **kwargs: Any) -> list[Run]: ...


@overload
def ask(video: Sequence[Clip], question: str, *args: Any, **kwargs: Any) -> list[Run]: ...


def ask(
    video: Clip | Sequence[Clip],
    question: str | Sequence[str],
    model: str | ModelAdapter = "builtin",
    compressor: Method | str | None = None,
    max_new_tokens: int = 64,
    *,
    num_frames: int = 32,
    max_pixels: int | None = None,
    temperature: float = 0.0,
    top_p: float = 1.0,
    seed: int | None = None,
    history: History = (),
    on_text: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
) -> Run | list[Run]:
    """Answer ``question`` about ``video`` with compressed visual tokens (GleanVID at 25 %).

    A list of questions gives a list of runs, each asked as if alone: the video is encoded once,
    and read once where the compressor does not look at the question. A list of videos goes into
    one prompt, each compressed by itself, and gives a run a video, which share the answer.

    Args:
        video: a file, frames that were read before, frames uint8 [T, H, W, 3], or a picture (a
            file, uint8 [H, W, 3], or one of Pillow), which is a video of one frame; or a list.
        question: about the video; or a list.
        model: a loaded model, or a name for :func:`load_model`.
        compressor: or the name of one that shall have its defaults; GleanVID if None.
        max_new_tokens: as ``temperature``, ``top_p`` and ``seed``, a setting of :class:`Sampling`.
        num_frames: sampled from a file; frames that were read before are all used.
        max_pixels: bound on the pixels of all frames together as the model sees them.
        temperature: see :class:`Sampling`.
        top_p: see :class:`Sampling`.
        seed: see :class:`Sampling`.
        history: (question, answer) pairs asked about the video before.
        on_text: receives every new piece of the answer.
        stop: once set, ends the answer within one layer of the model.

    Raises:
        TypeError: what is no clip, question, model, compressor or history.
        ValueError: an empty question, or a setting out of its range.
        VideoError: a file that cannot be used.
        ModelError: a model that cannot be loaded or run, or takes one video alone.
        StoppedError: ``stop`` was set ahead of the first token.

    >>> run = ask("assets/clips/glimpse_1.mp4", "What moves?", max_new_tokens=8, num_frames=8)
    >>> run.cost.visual_tokens, run.cost.visual_tokens_kept
    (400, 100)
    >>> run, other = ask(run.video, ["What moves?", "Where?"], max_new_tokens=8)
    >>> run.compression.keep.equal(other.compression.keep)
    True
    """
    sampling = Sampling(max_new_tokens, temperature, top_p, seed)
    checked_max_pixels(max_pixels)
    questions, history = as_questions(question), as_history(history)
    clips = video if isinstance(video, (list, tuple)) else None
    if clips is not None and (not isinstance(question, str) or history or not clips):
        said = "takes one question, without history" if clips else "must not be empty"
        raise ValueError(f"a list of videos {said}")
    method = as_compressor(compressor) or GleanVID()
    adapter = _loaded(model)
    started = time.perf_counter()
    videos = [as_clip(each, num_frames) for each in ([video] if clips is None else clips)]
    given: dict[str, Any] = {"on_text": on_text, "stop": stop}
    given["decode_s"] = time.perf_counter() - started
    if clips is not None:
        given["max_pixels"] = max_pixels
        return answer_videos(videos, questions[0], adapter, method, sampling, **given)
    clip = ClipKey(videos[0], adapter.name, max_pixels)
    given["history"] = history
    if isinstance(question, str):
        return answer(clip, question, adapter, method, sampling, **given)
    return answer_questions(clip, questions, adapter, method, sampling, **given)


def _loaded(model: Any) -> ModelAdapter:
    """The model, or the one of this name. Raises ``TypeError`` for anything else."""
    if isinstance(model, (str, Path)):
        return load_model(model)
    if not (hasattr(model, "encode") and hasattr(model, "generate")):
        kind = type(model).__name__
        raise TypeError(f"model must be a name or what load_model returns, not {kind}")
    adapter: ModelAdapter = model
    return adapter


def stream(
    video: str | Path | Video,
    question: str,
    model: str | ModelAdapter = "builtin",
    compressor: Method | str | None = None,
    max_new_tokens: int = 64,
    *,
    num_frames: int = 32,
    max_pixels: int | None = None,
    temperature: float = 0.0,
    top_p: float = 1.0,
    seed: int | None = None,
    history: History = (),
    stop: threading.Event | None = None,
) -> Iterator[str | Run]:
    """:func:`ask`, yielding the answer as it grows and the :class:`Run` last.

    Closing the iterator stops generation and waits until the model is free. Raises what
    :func:`ask` raises.

    Args:
        video: as all the others, see :func:`ask`.
        question: about the video.
        model: a loaded model or its name.
        compressor: GleanVID at its defaults if None.
        max_new_tokens: the longest answer, in tokens.
        num_frames: as all the settings below, see :func:`ask`.
        max_pixels: see :func:`ask`.
        temperature: see :class:`Sampling`.
        top_p: see :class:`Sampling`.
        seed: see :class:`Sampling`.
        history: (question, answer) pairs asked about the video before.
        stop: once set, ends the answer within one layer of the model.

    >>> video, model = read_video("assets/clips/glimpse_1.mp4", num_frames=4), load_model()
    >>> *pieces, run = stream(video, "What moves?", model, max_new_tokens=8)
    >>> pieces[-1].strip() == run.answer
    True
    """
    sampling = Sampling(max_new_tokens, temperature, top_p, seed)
    work = partial(ask, video, question, model, compressor, num_frames=num_frames, history=history)
    pixels = checked_max_pixels(max_pixels)
    return followed(partial(work, max_pixels=pixels, **asdict(sampling)), stop)


def compressing(hf_model: Any, compressor: Method | str | None) -> AbstractContextManager[Prefill]:
    """While open, every prompt with a video that your own ``hf_model`` reads is compressed.

    All hooks are gone afterwards. ``record.compression`` is the record of the latest prefill (a
    list, one a row, for a batch).

    Args:
        hf_model: a model of transformers, of a family in ``MODELS``.
        compressor: what compresses, or its name; None only records how many tokens there are.

    Raises:
        ModelError: a family that is not in ``MODELS``.

    >>> model, video = load_model(), read_video("assets/clips/glimpse_1.mp4", num_frames=4)
    >>> asked = [{"type": "video"}, {"type": "text", "text": "What moves?"}]
    >>> text = model.processor.apply_chat_template([{"role": "user", "content": asked}])
    >>> inputs = model.processor(text=[text], videos=[video.frames], return_tensors="pt")
    >>> with compressing(model.hf_model, GleanVID(0.1)) as record:
    ...     output = model.hf_model.generate(**inputs, max_new_tokens=4)
    >>> record.compression.num_kept
    20
    """
    return models.compressing(hf_model, as_compressor(compressor))


@dataclass(frozen=True)
class Failure:
    """A method that could not answer, in place of its run."""

    compressor: Method
    error: Exception


def compare(
    video: Clip,
    question: str,
    model: str | ModelAdapter,
    compressors: str | Iterable[Method | str],
    max_new_tokens: int = 64,
    *,
    max_pixels: int | None = None,
    temperature: float = 0.0,
    top_p: float = 1.0,
    seed: int | None = None,
    history: History = (),
    stop: threading.Event | None = None,
    num_frames: int = 32,
) -> Iterator[Run | Failure]:
    """The same question under every compressor, encoded once; a failing one is a Failure.

    Args:
        video: what :func:`ask` takes as one.
        question: about the video.
        model: a loaded model or its name.
        compressors: one run each, in this order; or one name.
        max_new_tokens: the longest answer, in tokens.
        max_pixels: bound on the pixels of all frames together as the model sees them.
        temperature: see :class:`Sampling`.
        top_p: see :class:`Sampling`.
        seed: see :class:`Sampling`.
        history: (question, answer) pairs asked about the video before.
        stop: once set, ends the comparison.
        num_frames: sampled from a file.

    Raises:
        VideoError: the file cannot be used as a clip.
        ValueError: a setting out of its range.
        StoppedError: ``stop`` was set.

    >>> video, model = read_video("assets/clips/glimpse_1.mp4", num_frames=4), load_model()
    >>> runs = compare(video, "What moves?", model, [FullTokens(), GleanVID(0.1)], 4)
    >>> [run.cost.visual_tokens_kept for run in runs]
    [200, 20]
    """
    sampling = Sampling(max_new_tokens, temperature, top_p, seed)
    pixels = checked_max_pixels(max_pixels)
    listed = [compressors] if isinstance(compressors, str) else compressors
    methods = [as_compressor(given) or GleanVID() for given in listed]
    signals = frozenset[str]().union(*(method.needs for method in methods))
    adapter = _loaded(model)
    clip = ClipKey(as_clip(video, num_frames), adapter.name, pixels, signals)
    return _compared(clip, question, adapter, methods, sampling, as_history(history), stop)


def _compared(
    clip: ClipKey,
    question: str,
    model: ModelAdapter,
    methods: Sequence[Method],
    sampling: Sampling,
    history: History,
    stop: threading.Event | None,
) -> Iterator[Run | Failure]:
    encode(clip, model, stop)
    for method in methods:
        try:
            yield answer(clip, question, model, method, sampling, history=history, stop=stop)
        except StoppedError:
            raise
        except Exception as error:  # one method's fault must not end the table
            yield Failure(method, error)
