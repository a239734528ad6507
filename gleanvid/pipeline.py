"""From a video and a question to a :class:`Run`. Knows no method, no family and no screen.

The path goes one way: read -> encode (once per clip and model) -> compress and answer -> Run.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from gleanvid.compressors.base import Chain, Compressor
from gleanvid.compressors.gleanvid import GleanVID
from gleanvid.models import load_model
from gleanvid.models.base import ModelAdapter
from gleanvid.models.boundary.interrupt import interruptible
from gleanvid.models.cost.accounts import cost_of, made_with
from gleanvid.models.encoded import Encoded, History
from gleanvid.models.generation.sampling import Sampling
from gleanvid.run import Run
from gleanvid.types import StoppedError, Video
from gleanvid.video import read_video

Method = Compressor | Chain
MAX_SIDE = 1280  # frames are read no larger than this; models shrink them further
_KEPT_CLIPS = 2  # encoded clips kept per model


@dataclass(frozen=True)
class Failure:
    """A method that could not answer, in place of its run."""

    compressor: Method
    error: Exception


def encode(
    video: Video,
    model: ModelAdapter,
    needs: frozenset[str] = frozenset(),
    *,
    max_pixels: int | None = None,
    stop: threading.Event | None = None,
) -> tuple[Encoded, bool]:
    """The video through the model's vision side, and whether it came from the cache.

    ``max_pixels`` bounds the pixels of all frames together. Raises ``StoppedError`` once ``stop``
    is set.
    """
    if held := remembered(video, model, needs, max_pixels):
        return held, True
    with model.lock:
        encoded = model.encode(video, needs, max_pixels=max_pixels, stop=stop)
        model.clips[(id(video), needs, max_pixels)] = encoded
        while len(model.clips) > _KEPT_CLIPS:
            model.clips.popitem(last=False)
        return encoded, False


def remembered(
    video: Video,
    model: ModelAdapter,
    needs: frozenset[str] = frozenset(),
    max_pixels: int | None = None,
) -> Encoded | None:
    """The encoded video where the model holds it; waits for nobody who uses the model."""
    for key, held in list(model.clips.items()):
        if held.video is video and needs <= key[1] and max_pixels == key[2]:
            with suppress(KeyError):  # another thread may just have let it go
                model.clips.move_to_end(key)
            return held
    return None


def ask(
    video: str | Path | Video,
    question: str,
    model: str | ModelAdapter = "builtin",
    compressor: Method | None = None,
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
) -> Run:
    """Answer ``question`` about ``video`` with compressed visual tokens (GleanVID at 25 %).

    ``num_frames`` counts when a path is given; ``max_pixels`` bounds the pixels of all frames
    together as the model sees them. ``max_new_tokens``, ``temperature``, ``top_p`` and ``seed`` are
    those of :class:`Sampling`; ``history``: (question, answer) of earlier turns. ``on_text``
    receives every new piece of the answer; setting ``stop`` ends it within a layer of the model.
    Raises ``ValueError`` for an empty question and settings out of range, :class:`VideoError`,
    :class:`ModelError`, and :class:`StoppedError` where ``stop`` came ahead of the first token.
    """
    if not question.strip():
        raise ValueError("question must not be empty")
    sampling = Sampling(max_new_tokens, temperature, top_p, seed)
    adapter = load_model(model) if isinstance(model, str) else model
    method = compressor or GleanVID()
    started = time.perf_counter()
    loaded = video if isinstance(video, Video) else read_video(video, num_frames, max_side=MAX_SIDE)
    decode_s = time.perf_counter() - started
    encoded, cached = encode(loaded, adapter, method.needs, max_pixels=max_pixels, stop=stop)
    answer = adapter.generate(
        encoded,
        question,
        method,
        sampling,
        history=history,
        on_text=on_text,
        stop=stop,
    )
    encode_s = 0.0 if cached else encoded.encode_s
    return Run(
        video=loaded,
        question=question,
        model=adapter.name,
        compressor=method.settings(),
        by_layer=answer.by_layer,
        answer=answer.text,
        cost=cost_of(answer, encoded, adapter.text_config, decode_s, encode_s),
        seconds=_placed(encoded.tokens.seconds),
        rectangles=_placed(encoded.tokens.rectangles),
        made_with=made_with(
            adapter.hf_model, asdict(sampling), max_pixels or adapter.max_pixels, len(history)
        ),
    )


def _placed(geometry: Tensor | None) -> Tensor:
    if geometry is None:
        raise ValueError("the model adapter did not place its tokens in the source video")
    return geometry.cpu()


def score(
    video: Video,
    question: str,
    answers: Sequence[str],
    model: ModelAdapter,
    compressor: Method | None,
    *,
    max_pixels: int | None = None,
    stop: threading.Event | None = None,
) -> list[float]:
    """Mean log-probability per token of each given answer under a compressor.

    Raises ``ModelError``, and ``StoppedError`` once ``stop`` is set.
    """
    needs = frozenset() if compressor is None else compressor.needs
    encoded, _ = encode(video, model, needs, max_pixels=max_pixels, stop=stop)
    with model.lock, interruptible(model.hf_model, stop):
        return model.conversation(encoded, compressor).score(question, answers)


def stream(
    video: str | Path | Video,
    question: str,
    model: str | ModelAdapter = "builtin",
    compressor: Method | None = None,
    max_new_tokens: int = 64,
    *,
    stop: threading.Event | None = None,
    **options: Any,
) -> Iterator[str | Run]:
    """:func:`ask`, yielding the answer as it grows and the :class:`Run` last.

    Closing the iterator stops generation and waits until the model is free. Raises what
    :func:`ask` raises.
    """
    stop = stop or threading.Event()
    pieces: queue.SimpleQueue[str | Run | Exception] = queue.SimpleQueue()

    def work() -> None:
        try:
            settings: dict[str, Any] = {"on_text": pieces.put, "stop": stop} | options
            pieces.put(ask(video, question, model, compressor, max_new_tokens, **settings))
        except Exception as error:
            pieces.put(error)

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    text, over = "", False
    try:
        while isinstance(piece := pieces.get(), str):
            text += piece
            yield text
        over = True
        if isinstance(piece, Exception):
            raise piece
        yield piece
    finally:
        if not over:
            stop.set()
        worker.join()


def compare(
    video: Video,
    question: str,
    model: ModelAdapter,
    compressors: Iterable[Method],
    max_new_tokens: int = 64,
    *,
    max_pixels: int | None = None,
    stop: threading.Event | None = None,
    **options: Any,
) -> Iterator[Run | Failure]:
    """The same question under every compressor, encoded once; a failing one is a Failure.

    Raises ``StoppedError`` once ``stop`` is set.
    """
    methods = list(compressors)
    needs = frozenset().union(*(method.needs for method in methods))
    given: dict[str, Any] = {"max_pixels": max_pixels, "stop": stop}
    encode(video, model, needs, **given)
    for method in methods:
        try:
            yield ask(video, question, model, method, max_new_tokens, **given, **options)
        except StoppedError:
            raise
        except Exception as error:  # one method's fault must not end the table
            yield Failure(method, error)
