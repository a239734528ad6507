"""``least``: search for the lowest retention ratio at which the answer stays the same."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from gleanvid.api.arguments import FRAMES, Clip, Frames, as_key, override
from gleanvid.api.pipeline import answer as run_of
from gleanvid.api.pipeline import encode
from gleanvid.compressors import as_compressor
from gleanvid.compressors.base import Compressor
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.metrics.least import LOW, PASSES, Least, check_search
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import History
from gleanvid.models.generation.sampling import GREEDY, Sampling
from gleanvid.run import Run


def least(
    video: Clip,
    question: str,
    model: str | ModelAdapter = "builtin",
    compressor: Compressor | str = "gleanvid",
    answer: str | None = None,
    max_new_tokens: int | None = None,
    *,
    low: float = LOW,
    high: float = 1.0,
    passes: int = PASSES,
    num_frames: int | None = None,
    sampling: Sampling = GREEDY,
    frames: Frames = FRAMES,
    history: History = (),
    on_try: Callable[[Least], None] | None = None,
    stop: threading.Event | None = None,
) -> Least:
    """Search for the lowest retention ratio at which the answer is the same as with all tokens.

    The first three ratios are evenly spread on a log scale. The others bisect between the highest
    ratio that lost the answer and the next higher one. The video is encoded once.

    Args:
        video: see :func:`ask`.
        question: a question about the video.
        model: a loaded model, or a name that :func:`load_model` takes.
        compressor: a compressor or its name; its own ratio is ignored.
        answer: the answer to keep; None asks with all tokens first.
        max_new_tokens: longest answer in tokens; overrides that of ``sampling``.
        low: least retention ratio to try, in (0, high).
        high: retention ratio below which to search, at most 1. It is not tried.
        passes: largest number of ratios to try.
        num_frames: number of frames to sample; overrides that of ``frames``.
        sampling: how each answer is sampled.
        frames: which frames of a file are used.
        history: (question, answer) pairs of earlier turns about the video.
        on_try: called after every try with the search so far.
        stop: once set, ends the search before the next layer of the model is computed.

    Returns:
        The search with the ratio found, the runs just above and below it, and every try.

    Raises:
        ValueError: an empty question, or a setting out of its range.
        VideoError: a file that cannot be used.
        ModelError: a model that cannot be loaded or run.
        StoppedError: ``stop`` was set.

    >>> video, model = read_video("assets/clips/glimpse_1.mp4", num_frames=4), load_model()
    >>> found = least(video, "What is there?", model, "uniform", max_new_tokens=4, passes=3)
    >>> [one.tokens for one in found.tries]
    [63, 20, 6]
    """
    check_search(low, high, passes)
    sampling = override(sampling, max_new_tokens=max_new_tokens)
    frames = override(frames, num_frames=num_frames)
    method = as_compressor(compressor)
    if method is None or isinstance(method, FullTokens):
        raise ValueError(f"compressor={compressor!r} has no ratio to search: name a compressor")
    key, adapter, history = as_key(video, question, model, frames, history, method.needs)

    def ask(chosen: Compressor) -> Run:
        return run_of(key, question, adapter, chosen, sampling, history=history, stop=stop)

    encoded, _ = encode(key, adapter, stop)
    words = ask(FullTokens()).answer if answer is None else answer
    found = Least(method.title, words, len(encoded.tokens), low, high, passes)
    while (ratio := found.next_ratio) is not None:
        try:
            found = found.answered(ratio, ask(replace(method, retention_ratio=ratio)))
        except ValueError as error:  # the method cannot reach this ratio
            found = found.refused(ratio, str(error))
        if on_try:
            on_try(found)
    return found
