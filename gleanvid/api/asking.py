"""Ask one question, ask several, or stream an answer while it is generated."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from gleanvid.api.arguments import (
    FRAMES,
    Clip,
    Frames,
    as_model,
    check_history,
    check_questions,
    override,
    timed_clip,
    warn_of_nonsense,
)
from gleanvid.api.pipeline import answer, answer_questions, follow
from gleanvid.compressors import as_compressor
from gleanvid.compressors.base import Compressor
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import ClipKey, History
from gleanvid.models.generation.sampling import GREEDY, Sampling
from gleanvid.run import Run


def ask(
    video: Clip,
    question: str,
    model: str | ModelAdapter = "builtin",
    compressor: Compressor | str | None = "gleanvid",
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
        video: a file, a :class:`Video` (``Video.from_frames`` makes one of frames in memory), or
            an image (a file, uint8 [H, W, 3], or one of Pillow), which is a video of one frame.
        question: a question about the video.
        model: a loaded model, or a name that :func:`load_model` takes.
        compressor: a compressor or its name (without a ratio: 25 %); None keeps all tokens.
        max_new_tokens: longest answer in tokens; overrides that of ``sampling``.
        num_frames: number of frames to sample; overrides that of ``frames``.
        sampling: how the answer is sampled.
        frames: which frames of a file are used.
        history: (question, answer) pairs of earlier turns about the video.
        on_text: receives every new piece of the answer.
        stop: once set, ends the answer before the next layer of the model is computed.

    Returns:
        The answer with its cost and the compression record.

    Raises:
        TypeError: an argument of the wrong type, such as a list (see :func:`ask_many`).
        ValueError: an empty question, or a setting out of its range.
        VideoError: a file that cannot be used.
        ModelError: a model that cannot be loaded or run.
        StoppedError: ``stop`` was set before the first token.

    >>> run = ask("assets/clips/glimpse_1.mp4", "What is there?", max_new_tokens=8, num_frames=8)
    >>> run.cost.visual_tokens, run.cost.visual_tokens_kept
    (400, 100)
    """
    sampling = override(sampling, max_new_tokens=max_new_tokens)
    frames = override(frames, num_frames=num_frames)
    if isinstance(video, list | tuple) or isinstance(question, list | tuple):
        raise TypeError("ask takes one video and one question; ask_many takes several questions")
    check_questions([question])
    history = check_history(history)
    method = as_compressor(compressor) or FullTokens()
    clip, decode_s = timed_clip(video, frames)
    adapter = as_model(model)
    warn_of_nonsense(adapter, video, [question])
    key = ClipKey(clip, adapter.name, frames.max_pixels)
    run = answer(
        key, question, adapter, method, sampling, history=history, on_text=on_text, stop=stop
    )
    return run.with_decode_s(decode_s)


def ask_many(
    video: Clip,
    question: str | Sequence[str],
    model: str | ModelAdapter = "builtin",
    compressor: Compressor | str | None = "gleanvid",
    max_new_tokens: int | None = None,
    *,
    num_frames: int | None = None,
    sampling: Sampling = GREEDY,
    frames: Frames = FRAMES,
    history: History = (),
    on_text: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
) -> list[Run]:
    """Answer several questions about one video.

    Each question is asked independently. The video is encoded once. It is also prefilled only once
    if the compressor does not read the question.

    Args:
        video: see :func:`ask`.
        question: a question about the video, or a list of questions.
        model: a loaded model, or a name that :func:`load_model` takes.
        compressor: a compressor or its name (without a ratio: 25 %); None keeps all tokens.
        max_new_tokens: longest answer in tokens; overrides that of ``sampling``.
        num_frames: number of frames to sample; overrides that of ``frames``.
        sampling: how each answer is sampled.
        frames: which frames of a file are used.
        history: (question, answer) pairs of earlier turns about the video.
        on_text: receives every new piece of the answers.
        stop: once set, ends the work before the next layer of the model is computed.

    Returns:
        A run per question.

    Raises:
        ValueError: an empty list; or what :func:`ask` raises.

    >>> clip = "assets/clips/glimpse_1.mp4"
    >>> asked = ["What is there?", "How many objects are there?"]
    >>> run, other = ask_many(clip, asked, max_new_tokens=8, num_frames=8)
    >>> run.compression.keep.equal(other.compression.keep)
    True
    """
    sampling = override(sampling, max_new_tokens=max_new_tokens)
    frames = override(frames, num_frames=num_frames)
    questions, history = check_questions(question), check_history(history)
    method = as_compressor(compressor) or FullTokens()
    clip, decode_s = timed_clip(video, frames)
    adapter = as_model(model)
    warn_of_nonsense(adapter, video, questions)
    key = ClipKey(clip, adapter.name, frames.max_pixels)
    first, *others = answer_questions(
        key, questions, adapter, method, sampling, history=history, on_text=on_text, stop=stop
    )
    return [first.with_decode_s(decode_s), *others]


def stream(
    video: Clip,
    question: str,
    model: str | ModelAdapter = "builtin",
    compressor: Compressor | str | None = "gleanvid",
    max_new_tokens: int | None = None,
    *,
    num_frames: int | None = None,
    sampling: Sampling = GREEDY,
    frames: Frames = FRAMES,
    history: History = (),
    stop: threading.Event | None = None,
) -> Iterator[str | Run]:
    """Answer a question like :func:`ask`; yield the growing answer, finally the :class:`Run`.

    Closing the iterator stops generation and waits until the model is free.

    Args:
        video: see :func:`ask`.
        question: a question about the video.
        model: a loaded model, or a name that :func:`load_model` takes.
        compressor: a compressor or its name (without a ratio: 25 %); None keeps all tokens.
        max_new_tokens: longest answer in tokens; overrides that of ``sampling``.
        num_frames: number of frames to sample; overrides that of ``frames``.
        sampling: how the answer is sampled.
        frames: which frames of a file are used.
        history: (question, answer) pairs of earlier turns about the video.
        stop: once set, ends the answer before the next layer of the model is computed.

    Returns:
        An iterator. Each item is the whole answer so far, not only its new piece. The last item is
        the run.

    Raises:
        ValueError: a setting out of its range. Other errors of :func:`ask` come from the iterator.

    >>> video, model = read_video("assets/clips/glimpse_1.mp4", num_frames=4), load_model()
    >>> *pieces, run = stream(video, "What is there?", model, max_new_tokens=8)
    >>> pieces[-1].strip() == run.answer
    True
    """
    sampling = override(sampling, max_new_tokens=max_new_tokens)
    frames = override(frames, num_frames=num_frames)
    settings: dict[str, Any] = {"sampling": sampling, "frames": frames, "history": history}
    return follow(partial(ask, video, question, model, compressor, **settings), stop)
