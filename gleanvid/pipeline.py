"""The steps from a clip and a question to a :class:`Run`: encode, compress and answer, score.

Arguments are values that were checked before (``ClipKey``, ``Sampling``). The functions with
keywords for people are in :mod:`gleanvid.api`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from torch import Tensor

from gleanvid.compressors.base import Compressor
from gleanvid.following import followed
from gleanvid.models import load_model as load_model
from gleanvid.models.base import ModelAdapter
from gleanvid.models.boundary.interrupt import interruptible
from gleanvid.models.cost.accounts import cost_of, made_with
from gleanvid.models.encoded import ClipKey, Encoded, History
from gleanvid.models.generation.sampling import GREEDY, Sampling
from gleanvid.run import Run
from gleanvid.video import read_video as read_video

Method = Compressor
MAX_SIDE = 1280  # frames are read no larger than this; models shrink them further
_KEPT_CLIPS = 2  # encoded clips kept per model


def encode(
    clip: ClipKey, model: ModelAdapter, stop: threading.Event | None = None
) -> tuple[Encoded, bool]:
    """The clip through the model's vision side, and whether it came from the cache.

    Raises ``StoppedError`` once ``stop`` is set.
    """
    if known := remembered(clip, model):
        return known, True
    clip = clip.bounded(model.max_pixels)
    with model.lock:
        encoded = model.encode(clip.video, clip.signals, max_pixels=clip.max_pixels, stop=stop)
        model.clips[clip] = encoded
        while len(model.clips) > _KEPT_CLIPS:
            model.clips.popitem(last=False)
        return encoded, False


def remembered(clip: ClipKey, model: ModelAdapter) -> Encoded | None:
    """The encoded clip if the model still has it. Does not wait for the model."""
    clip = clip.bounded(model.max_pixels)
    for key, encoded in list(model.clips.items()):
        if key.serves(clip):
            with suppress(KeyError):  # another thread may just have let it go
                model.clips.move_to_end(key)
            return encoded
    return None


def answer(
    clip: ClipKey,
    question: str,
    model: ModelAdapter,
    compressor: Method,
    sampling: Sampling = GREEDY,
    *,
    history: History = (),
    on_text: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
    decode_s: float = 0.0,
) -> Run:
    """The run of one question about a clip that was read before, in ``decode_s`` seconds."""
    clip = replace(clip.bounded(model.max_pixels), signals=clip.signals | compressor.needs)
    encoded, cached = encode(clip, model, stop)
    answer = model.generate(
        encoded, question, compressor, sampling, history=history, on_text=on_text, stop=stop
    )
    encode_s = 0.0 if cached else encoded.encode_s
    return Run(
        **described(clip, question, model, compressor, sampling, len(history)),
        by_layer=answer.by_layer,
        answer=answer.text,
        cost=cost_of(answer, encoded, model.text_config, decode_s, encode_s),
        seconds=placed(encoded.tokens.seconds),
        rectangles=placed(encoded.tokens.rectangles),
    )


def described(
    clip: ClipKey,
    question: str,
    model: ModelAdapter,
    compressor: Method,
    sampling: Sampling,
    earlier_turns: int = 0,
) -> dict[str, Any]:
    """What a :class:`Run` says of how it was asked for."""
    return {
        "video": clip.video,
        "question": question,
        "model": model.name,
        "compressor": compressor.settings(),
        "made_with": made_with(model.hf_model, asdict(sampling), clip.max_pixels, earlier_turns),
    }


def placed(geometry: Tensor | None) -> Tensor:
    """Where tokens lie, on the CPU. Raises ``ValueError`` where an adapter did not say."""
    if geometry is None:
        raise ValueError("the model adapter did not place its tokens in the source video")
    return geometry.cpu()


def score(
    clip: ClipKey,
    question: str,
    answers: Sequence[str],
    model: ModelAdapter,
    compressor: Method | None,
    *,
    stop: threading.Event | None = None,
) -> list[float]:
    """Mean log-probability per token of each given answer under a compressor.

    Raises ``ModelError``, and ``StoppedError`` once ``stop`` is set.
    """
    needs = frozenset() if compressor is None else compressor.needs
    encoded, _ = encode(replace(clip, signals=clip.signals | needs), model, stop)
    with model.lock, interruptible(model.hf_model, stop):
        return model.conversation(encoded, compressor).score(question, answers)


def stream_answer(
    clip: ClipKey,
    question: str,
    model: ModelAdapter,
    compressor: Method,
    sampling: Sampling = GREEDY,
    *,
    history: History = (),
    stop: threading.Event | None = None,
) -> Iterator[str | Run]:
    """:func:`answer`, yielding the answer as it grows and the run last."""
    work = partial(answer, clip, question, model, compressor, sampling, history=history)
    return followed(work, stop)
