"""``compare``: answer one question with several compressors."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from gleanvid.api.arguments import FRAMES, Clip, Frames, as_key, override
from gleanvid.api.pipeline import answer, encode
from gleanvid.compressors import as_compressor
from gleanvid.compressors.base import Compressor
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import History
from gleanvid.models.generation.sampling import GREEDY, Sampling
from gleanvid.run import Run
from gleanvid.types import StoppedError


@dataclass(frozen=True)
class Failure:
    """The error of a compressor that failed to answer. It takes the place of a run."""

    compressor: Compressor
    error: Exception


def compare(
    video: Clip,
    question: str,
    model: str | ModelAdapter,
    compressors: str | Iterable[Compressor | str | None],
    max_new_tokens: int | None = None,
    *,
    num_frames: int | None = None,
    sampling: Sampling = GREEDY,
    frames: Frames = FRAMES,
    history: History = (),
    stop: threading.Event | None = None,
) -> Iterator[Run | Failure]:
    """Answer one question with every compressor; the video is encoded once.

    Args:
        video: see :func:`ask`.
        question: a question about the video.
        model: a loaded model, or a name that :func:`load_model` takes.
        compressors: compressors or their names, one run for each in this order; or one name. None
            keeps all tokens.
        max_new_tokens: longest answer in tokens; overrides that of ``sampling``.
        num_frames: number of frames to sample; overrides that of ``frames``.
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
    >>> runs = compare(video, "What is there?", model, [FullTokens(), GleanVID(0.1)], 4)
    >>> [run.cost.visual_tokens_kept for run in runs]
    [200, 20]
    """
    sampling = override(sampling, max_new_tokens=max_new_tokens)
    frames = override(frames, num_frames=num_frames)
    names = [compressors] if isinstance(compressors, str) else compressors
    methods = [as_compressor(name) or FullTokens() for name in names]
    signals = frozenset[str]().union(*(method.needs for method in methods))
    key, adapter, history = as_key(video, question, model, frames, history, signals)
    one = partial(answer, key, question, adapter, sampling=sampling, history=history, stop=stop)

    def runs() -> Iterator[Run | Failure]:
        encode(key, adapter, stop)
        for method in methods:
            try:
                yield one(compressor=method)
            except StoppedError:
                raise
            except Exception as error:  # a method that fails must not end the comparison
                yield Failure(method, error)

    return runs()
