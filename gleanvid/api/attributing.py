"""``relevance``: measure how much an answer depends on each visual token."""

from __future__ import annotations

import threading
from typing import Any

from gleanvid.api.arguments import FRAMES, Clip, Frames, as_key, override
from gleanvid.api.pipeline import encode
from gleanvid.attribution.measure import PASSES, check_model, check_way, measure
from gleanvid.attribution.relevance import Relevance
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import History


def relevance(
    video: Clip,
    question: str,
    model: str | ModelAdapter = "builtin",
    answer: str | None = None,
    by: str = "gradient",
    *,
    words: bool = False,
    passes: int = PASSES,
    num_frames: int | None = None,
    frames: Frames = FRAMES,
    history: History = (),
    stop: threading.Event | None = None,
) -> Relevance:
    """Measure how much an answer depends on each visual token.

    This is how the model uses its input, not what is true.

    Args:
        video: see :func:`ask`.
        question: a question about the video.
        model: a loaded model, or a name that :func:`load_model` takes.
        answer: the answer whose probability is measured; None takes the model's own with all
            tokens.
        by: "gradient" (a backward pass: four times as long as reading the prompt), "occlusion"
            (hides unit after unit, then blocks of tokens) or "attention" (cheap, may mislead).
        words: with "gradient", whether to also return a map for every word of the answer.
        passes: with "occlusion", maximum number of forward passes with hidden tokens.
        num_frames: number of frames to sample; overrides that of ``frames``.
        frames: which frames of a file are used.
        history: (question, answer) pairs of earlier turns about the video.
        stop: once set, ends the work before the next layer of the model is computed.

    Returns:
        The relevance of every token; its method ``kept`` says how much of it a compression keeps.

    Raises:
        ValueError: an empty question or answer, or a setting out of its range.
        VideoError: a file that cannot be used.
        ModelError: a model that cannot be loaded, or that this method cannot measure.
        StoppedError: ``stop`` was set.

    >>> video, model = read_video("assets/clips/glimpse_1.mp4", num_frames=4), load_model()
    >>> found = relevance(video, "What is there?", model)
    >>> half = ask(video, "What is there?", model, GleanVID(0.5)).compression
    >>> found.random(half.num_kept) < found.kept(half) < found.best(half.num_kept)
    True
    """
    check_way(by, words, passes)
    frames = override(frames, num_frames=num_frames)
    if answer is not None and not (isinstance(answer, str) and answer.strip()):
        raise ValueError(f"answer={answer!r} must be text; None takes the model's own")
    key, adapter, history = as_key(video, question, model, frames, history)
    check_model(adapter)
    encoded, _ = encode(key, adapter, stop)
    if answer is None:
        answer = adapter.generate(encoded, question, None, history=history, stop=stop).text
    settings: Any = {"words": words, "passes": passes, "history": history, "stop": stop}
    return measure(adapter, encoded, question, answer, by, **settings)
