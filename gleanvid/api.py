"""Functions with keywords for people: arguments are checked before a file or a model is opened."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

from gleanvid import models
from gleanvid.arguments import (
    FRAMES,
    Clip,
    Frames,
    as_clip,
    as_model,
    check_history,
    check_questions,
    override,
    timed_clip,
)
from gleanvid.attribution.measure import PASSES, check_method, check_model, measure
from gleanvid.attribution.relevance import Relevance
from gleanvid.compressors import as_compressor
from gleanvid.compressors.base import Compressor
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.models.base import ModelAdapter
from gleanvid.models.boundary.prefill import Prefill
from gleanvid.models.encoded import ClipKey, History
from gleanvid.models.generation.sampling import GREEDY, Sampling
from gleanvid.pipeline import answer, answer_questions, answer_videos, encode, follow
from gleanvid.run import Run
from gleanvid.types import StoppedError


def ask(
    video: Clip,
    question: str,
    model: str | ModelAdapter = "builtin",
    compressor: Compressor | str | None = None,
    max_new_tokens: int | None = None,
    *,
    num_frames: int | None = None,
    sampling: Sampling = GREEDY,
    frames: Frames = FRAMES,
    history: History = (),
    on_text: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
) -> Run:
    """Answer ``question`` about ``video`` with compressed visual tokens.

    Args:
        video: a file, a :class:`Video`, frames uint8 [T, H, W, 3], or an image (a file, uint8
            [H, W, 3], or one of Pillow), which is a video of one frame.
        question: about the video.
        model: a loaded model, or a name for :func:`load_model`.
        compressor: a compressor or its name; None takes :class:`GleanVID` at 25 %.
        max_new_tokens: overrides that of ``sampling``.
        num_frames: overrides that of ``frames``.
        sampling: how the answer is sampled.
        frames: which frames of a file are used.
        history: (question, answer) pairs of earlier turns about the video.
        on_text: receives every new piece of the answer.
        stop: once set, ends the answer within one layer of the model.

    Returns:
        The answer with its cost and the record of the compression.

    Raises:
        TypeError: an argument of the wrong type; lists go to :func:`ask_many`.
        ValueError: an empty question, or a setting out of its range.
        VideoError: a file that cannot be used.
        ModelError: a model that cannot be loaded or run.
        StoppedError: ``stop`` was set before the first token.

    >>> run = ask("assets/clips/glimpse_1.mp4", "What moves?", max_new_tokens=8, num_frames=8)
    >>> run.cost.visual_tokens, run.cost.visual_tokens_kept
    (400, 100)
    """
    sampling = override(sampling, max_new_tokens=max_new_tokens)
    frames = override(frames, num_frames=num_frames)
    if isinstance(video, list | tuple) or isinstance(question, list | tuple):
        raise TypeError("ask takes one video and one question; for lists use ask_many")
    check_questions([question])
    history = check_history(history)
    method = as_compressor(compressor) or GleanVID()
    adapter = as_model(model)
    clip, decode_s = timed_clip(video, frames)
    key = ClipKey(clip, adapter.name, frames.max_pixels)
    run = answer(
        key, question, adapter, method, sampling, history=history, on_text=on_text, stop=stop
    )
    return run.with_decode_s(decode_s)


def ask_many(
    video: Clip | Sequence[Clip],
    question: str | Sequence[str],
    model: str | ModelAdapter = "builtin",
    compressor: Compressor | str | None = None,
    max_new_tokens: int | None = None,
    *,
    num_frames: int | None = None,
    sampling: Sampling = GREEDY,
    frames: Frames = FRAMES,
    history: History = (),
    on_text: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
) -> list[Run]:
    """Answer several questions about one video, or one question about several videos.

    Each question is asked as if alone. The video is encoded once, and prefilled once where the
    compressor does not read the question. Several videos go into one prompt, each compressed by
    itself.

    Args:
        video: see :func:`ask`; or a list of videos.
        question: about the video; or a list of questions.
        model: a loaded model, or a name for :func:`load_model`.
        compressor: a compressor or its name; None takes :class:`GleanVID` at 25 %.
        max_new_tokens: overrides that of ``sampling``.
        num_frames: of each video; overrides that of ``frames``.
        sampling: how each answer is sampled.
        frames: which frames of a file are used; ``max_pixels`` bounds each video.
        history: (question, answer) pairs of earlier turns; none for a list of videos.
        on_text: receives every new piece of the answers.
        stop: once set, ends the work within one layer of the model.

    Returns:
        A run per question, or a run per video; the latter share one answer and its cost.

    Raises:
        ValueError: an empty list, several of both, or history with several videos.
        ModelError: a model that takes one video only; else what :func:`ask` raises.

    >>> clip = "assets/clips/glimpse_1.mp4"
    >>> run, other = ask_many(clip, ["What moves?", "Where?"], max_new_tokens=8, num_frames=8)
    >>> run.compression.keep.equal(other.compression.keep)
    True
    """
    sampling = override(sampling, max_new_tokens=max_new_tokens)
    frames = override(frames, num_frames=num_frames)
    questions = check_questions(question)
    history = check_history(history)
    videos = list(video) if isinstance(video, (list, tuple)) else None
    if videos is not None and (not isinstance(question, str) or history or not videos):
        reason = "takes one question, without history" if videos else "must not be empty"
        raise ValueError(f"a list of videos {reason}")
    method = as_compressor(compressor) or GleanVID()
    adapter = as_model(model)
    timed = [timed_clip(each, frames) for each in videos or [video]]
    clips, decode_s = [clip for clip, _ in timed], sum(seconds for _, seconds in timed)
    if videos is not None:
        runs = answer_videos(
            clips,
            questions[0],
            adapter,
            method,
            sampling,
            max_pixels=frames.max_pixels,
            on_text=on_text,
            stop=stop,
        )
        return [run.with_decode_s(decode_s) for run in runs]
    key = ClipKey(clips[0], adapter.name, frames.max_pixels)
    first, *others = answer_questions(
        key, questions, adapter, method, sampling, history=history, on_text=on_text, stop=stop
    )
    return [first.with_decode_s(decode_s), *others]


def stream(
    video: Clip,
    question: str,
    model: str | ModelAdapter = "builtin",
    compressor: Compressor | str | None = None,
    max_new_tokens: int | None = None,
    *,
    num_frames: int | None = None,
    sampling: Sampling = GREEDY,
    frames: Frames = FRAMES,
    history: History = (),
    stop: threading.Event | None = None,
) -> Iterator[str | Run]:
    """:func:`ask`, yielding the answer as it grows and the :class:`Run` last.

    Closing the iterator stops generation and waits until the model is free.

    Args:
        video: see :func:`ask`.
        question: about the video.
        model: a loaded model, or a name for :func:`load_model`.
        compressor: a compressor or its name; None takes :class:`GleanVID` at 25 %.
        max_new_tokens: overrides that of ``sampling``.
        num_frames: overrides that of ``frames``.
        sampling: how the answer is sampled.
        frames: which frames of a file are used.
        history: (question, answer) pairs of earlier turns about the video.
        stop: once set, ends the answer within one layer of the model.

    Returns:
        An iterator over the whole answer so far (not its new piece alone), then the run.

    Raises:
        ValueError: a setting out of its range; the iterator raises what else :func:`ask` raises.

    >>> video, model = read_video("assets/clips/glimpse_1.mp4", num_frames=4), load_model()
    >>> *pieces, run = stream(video, "What moves?", model, max_new_tokens=8)
    >>> pieces[-1].strip() == run.answer
    True
    """
    sampling = override(sampling, max_new_tokens=max_new_tokens)
    frames = override(frames, num_frames=num_frames)
    settings: dict[str, Any] = {"sampling": sampling, "frames": frames, "history": history}
    return follow(partial(ask, video, question, model, compressor, **settings), stop)


def compressing(
    hf_model: Any, compressor: Compressor | str | None
) -> AbstractContextManager[Prefill]:
    """While open, every prompt with a video that your own ``hf_model`` reads is compressed.

    All hooks are gone afterwards. ``record.compression`` is the record of the latest prefill (a
    list with one per row for a batch).

    Args:
        hf_model: a model of transformers, of a family in ``MODELS``.
        compressor: a compressor or its name; None only counts tokens.

    Returns:
        A context manager that gives the record of the prefills.

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
    """A compressor that could not answer, in place of its run."""

    compressor: Compressor
    error: Exception


def compare(
    video: Clip,
    question: str,
    model: str | ModelAdapter,
    compressors: str | Iterable[Compressor | str],
    max_new_tokens: int | None = None,
    *,
    num_frames: int | None = None,
    sampling: Sampling = GREEDY,
    frames: Frames = FRAMES,
    history: History = (),
    stop: threading.Event | None = None,
) -> Iterator[Run | Failure]:
    """The same question under every compressor; the video is encoded once.

    Args:
        video: see :func:`ask`.
        question: about the video.
        model: a loaded model, or a name for :func:`load_model`.
        compressors: one run each, in this order; or one name.
        max_new_tokens: overrides that of ``sampling``.
        num_frames: overrides that of ``frames``.
        sampling: how each answer is sampled.
        frames: which frames of a file are used.
        history: (question, answer) pairs of earlier turns about the video.
        stop: once set, ends the comparison.

    Returns:
        An iterator over runs, a :class:`Failure` in place of each that failed.

    Raises:
        VideoError: a file that cannot be used.
        ValueError: a setting out of its range.
        StoppedError: ``stop`` was set.

    >>> video, model = read_video("assets/clips/glimpse_1.mp4", num_frames=4), load_model()
    >>> runs = compare(video, "What moves?", model, [FullTokens(), GleanVID(0.1)], 4)
    >>> [run.cost.visual_tokens_kept for run in runs]
    [200, 20]
    """
    sampling = override(sampling, max_new_tokens=max_new_tokens)
    frames = override(frames, num_frames=num_frames)
    names = [compressors] if isinstance(compressors, str) else compressors
    methods = [as_compressor(name) or GleanVID() for name in names]
    signals = frozenset[str]().union(*(method.needs for method in methods))
    check_questions([question])
    history = check_history(history)
    adapter = as_model(model)
    adapter.check_can_answer()
    key = ClipKey(as_clip(video, frames), adapter.name, frames.max_pixels, signals)

    def runs() -> Iterator[Run | Failure]:
        encode(key, adapter, stop)
        for method in methods:
            try:
                yield answer(key, question, adapter, method, sampling, history=history, stop=stop)
            except StoppedError:
                raise
            except Exception as error:  # one method's fault must not end the table
                yield Failure(method, error)

    return runs()


def relevance(
    video: Clip,
    question: str,
    model: str | ModelAdapter = "builtin",
    answer: str | None = None,
    method: str = "gradient",
    *,
    words: bool = False,
    passes: int = PASSES,
    num_frames: int | None = None,
    frames: Frames = FRAMES,
    history: History = (),
    stop: threading.Event | None = None,
) -> Relevance:
    """Measure which visual tokens an answer rests on.

    It is a measure of this model's use of its input, not of truth. "gradient" takes one backward
    pass, about four times the time of reading the prompt; "occlusion" hides one unit after
    the other, then blocks of the units that matter most; "attention" averages the answer's
    attention, which is cheap and known to mislead.

    Args:
        video: see :func:`ask`.
        question: about the video.
        model: a loaded model, or a name for :func:`load_model`.
        answer: whose probability is looked at; None takes the model's own with all tokens.
        method: "gradient", "occlusion" or "attention".
        words: with "gradient", also a map for every word of the answer.
        passes: most passes of "occlusion" with something hidden.
        num_frames: overrides that of ``frames``.
        frames: which frames of a file are used.
        history: (question, answer) pairs of earlier turns about the video.
        stop: once set, ends the work within one layer of the model.

    Returns:
        The relevance of every token; ``kept`` of it is what a compression keeps.

    Raises:
        ValueError: an empty question, or a setting out of its range.
        VideoError: a file that cannot be used.
        ModelError: a model that cannot be loaded, or that this method cannot measure.
        StoppedError: ``stop`` was set.

    >>> video, model = read_video("assets/clips/glimpse_1.mp4", num_frames=4), load_model()
    >>> found = relevance(video, "What moves?", model)
    >>> half = ask(video, "What moves?", model, GleanVID(0.5)).compression
    >>> found.random(half.num_kept) < found.kept(half) < found.best(half.num_kept)
    True
    """
    check_method(method, words, passes)
    frames = override(frames, num_frames=num_frames)
    check_questions([question])
    history = check_history(history)
    adapter = as_model(model)
    adapter.check_can_answer()
    check_model(adapter)
    key = ClipKey(as_clip(video, frames), adapter.name, frames.max_pixels)
    encoded, _ = encode(key, adapter, stop)
    if answer is None:
        answer = adapter.generate(encoded, question, None, history=history, stop=stop).text
    return measure(
        adapter,
        encoded,
        question,
        answer,
        method,
        words=words,
        passes=passes,
        history=history,
        stop=stop,
    )
