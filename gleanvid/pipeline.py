"""The steps from a clip and a question to a :class:`Run`: encode, compress and answer, score.

Arguments are values that were checked before (``ClipKey``, ``Sampling``). The functions with
keywords for people are in :mod:`gleanvid.api`.
"""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial

from torch import Tensor

from gleanvid.compressors.base import Compressor
from gleanvid.cost import Answer, Cost, visual_tokens_by_layer
from gleanvid.models import load_model as load_model
from gleanvid.models.base import ModelAdapter
from gleanvid.models.boundary.interrupt import interruptible
from gleanvid.models.encoded import ClipKey, Encoded, History
from gleanvid.models.generation.many_videos import answer_about
from gleanvid.models.generation.sampling import GREEDY, Sampling
from gleanvid.models.token_model import TokenModel
from gleanvid.run import Run, made_with
from gleanvid.types import Video
from gleanvid.video import read_video as read_video

MAX_SIDE = 1280  # frames are read no larger than this; models shrink them further
_CACHED_CLIPS = 2  # encoded clips remembered per model


def encode(
    clip: ClipKey, model: TokenModel, stop: threading.Event | None = None
) -> tuple[Encoded, bool]:
    """The clip through the model's vision side, and whether it came from the cache.

    Raises ``StoppedError`` once ``stop`` is set.
    """
    if known := remembered(clip, model):
        return known, True
    clip = clip.bounded(model.max_pixels)
    with model.lock:
        if known := remembered(clip, model):  # another thread encoded it meanwhile
            return known, True
        encoded = model.encode(clip.video, clip.signals, max_pixels=clip.max_pixels, stop=stop)
        model.clips[clip] = encoded
        while len(model.clips) > _CACHED_CLIPS:
            model.clips.popitem(last=False)
        return encoded, False


def remembered(clip: ClipKey, model: TokenModel) -> Encoded | None:
    """The encoded clip if the model still has it. Does not wait for the model."""
    clip = clip.bounded(model.max_pixels)
    for key, encoded in list(model.clips.items()):
        if key.serves(clip):
            with suppress(KeyError):  # another thread may just have dropped it
                model.clips.move_to_end(key)
            return encoded
    return None


def answer(
    clip: ClipKey,
    question: str,
    model: ModelAdapter,
    compressor: Compressor,
    sampling: Sampling = GREEDY,
    *,
    history: History = (),
    on_text: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
) -> Run:
    """The run of one question about a clip whose frames are in memory."""
    model.check_can_answer()
    clip = _with_signals(clip, model, compressor)
    encoded, _ = encode(clip, model, stop)
    reply = model.generate(
        encoded, question, compressor, sampling, history=history, on_text=on_text, stop=stop
    )
    run = _run(clip, encoded, question, model, compressor, sampling, history, reply)
    return replace(run, cost=replace(run.cost, encode_s=encoded.encode_s))


def answer_questions(
    clip: ClipKey,
    questions: Sequence[str],
    model: ModelAdapter,
    compressor: Compressor,
    sampling: Sampling = GREEDY,
    *,
    history: History = (),
    on_text: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
) -> list[Run]:
    """A run per question, each asked as if alone.

    The clip is encoded once, and prefilled once where the compressor does not read the question.
    The first run has the cost of both.
    """
    model.check_can_answer()
    clip = _with_signals(clip, model, compressor)
    encoded, _ = encode(clip, model, stop)
    with model.lock, interruptible(model.hf_model, stop):
        talk = model.conversation(encoded, compressor)
    runs = []
    for question in questions:
        reply = talk.ask(question, sampling, history=history, on_text=on_text, stop=stop)
        runs.append(_run(clip, encoded, question, model, compressor, sampling, history, reply))
    cost = runs[0].cost
    cost = replace(
        cost,
        encode_s=encoded.encode_s,
        compress_s=cost.compress_s + talk.compress_s,
        prefill_s=cost.prefill_s + talk.prefill_s,
    )
    return [replace(runs[0], cost=cost), *runs[1:]]


def answer_videos(
    videos: Sequence[Video],
    question: str,
    model: ModelAdapter,
    compressor: Compressor,
    sampling: Sampling = GREEDY,
    *,
    max_pixels: int | None = None,
    on_text: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
) -> list[Run]:
    """A run per video of one prompt, with its own tokens and the answer that they share.

    Times, prompt tokens and FLOPs are those of the whole prompt; ``prefill_s`` includes the vision
    tower. Raises what ``answer_about`` raises.
    """
    model.check_can_answer()
    reply, parts = answer_about(
        model, videos, question, compressor, sampling, max_pixels, on_text=on_text, stop=stop
    )
    config = model.text_config
    totals = [math.prod(part.grid) for part in parts]
    layers = [
        visual_tokens_by_layer(part.by_layer, total, config.num_hidden_layers)
        for part, total in zip(parts, totals, strict=True)
    ]
    entering = [sum(counts) for counts in zip(*layers, strict=True)]
    cost = Cost.of(reply, sum(totals), entering, config)
    return [
        Run(
            video=video,
            question=question,
            model=model.name,
            compressor=compressor.settings(),
            by_layer=part.by_layer,
            answer=reply.text,
            cost=replace(
                cost, visual_tokens=total, visual_tokens_kept=own[0], visual_tokens_by_layer=own
            ),
            seconds=part.seconds,
            rectangles=part.rectangles,
            made_with=made_with(model.hf_model, asdict(sampling), max_pixels),
        )
        for video, part, total, own in zip(videos, parts, totals, layers, strict=True)
    ]


def score(
    clip: ClipKey,
    question: str,
    answers: Sequence[str],
    model: ModelAdapter,
    compressor: Compressor | None,
    *,
    stop: threading.Event | None = None,
) -> list[float]:
    """Mean log-probability per token of each given answer under a compressor.

    Raises ``ModelError``, and ``StoppedError`` once ``stop`` is set.
    """
    model.check_can_answer()
    needs = frozenset() if compressor is None else compressor.needs
    encoded, _ = encode(replace(clip, signals=clip.signals | needs), model, stop)
    with model.lock, interruptible(model.hf_model, stop):
        return model.conversation(encoded, compressor).score(question, answers)


def stream_answer(
    clip: ClipKey,
    question: str,
    model: ModelAdapter,
    compressor: Compressor,
    sampling: Sampling = GREEDY,
    *,
    history: History = (),
    stop: threading.Event | None = None,
) -> Iterator[str | Run]:
    """:func:`answer`, yielding the answer as it grows and the run last."""
    work = partial(answer, clip, question, model, compressor, sampling, history=history)
    return follow(work, stop)


def follow(work: Callable[..., Run], stop: threading.Event | None) -> Iterator[str | Run]:
    """Run ``work(on_text=, stop=)`` in a thread; yield the text as it grows, the result last.

    Closing the iterator sets ``stop`` and waits until the work is over. Raises what ``work``
    raises.
    """
    stop = stop or threading.Event()
    pieces: queue.SimpleQueue[str | Run | Exception] = queue.SimpleQueue()

    def run() -> None:
        try:
            pieces.put(work(on_text=pieces.put, stop=stop))
        except Exception as error:
            pieces.put(error)

    worker = threading.Thread(target=run, daemon=True)
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


def _with_signals(clip: ClipKey, model: ModelAdapter, compressor: Compressor) -> ClipKey:
    return replace(clip.bounded(model.max_pixels), signals=clip.signals | compressor.needs)


def _run(
    clip: ClipKey,
    encoded: Encoded,
    question: str,
    model: ModelAdapter,
    compressor: Compressor,
    sampling: Sampling,
    history: History,
    reply: Answer,
) -> Run:
    """The run of a reply about one clip that was encoded before."""
    tokens, config = encoded.tokens, model.text_config
    layers = visual_tokens_by_layer(reply.by_layer, len(tokens), config.num_hidden_layers)
    return Run(
        video=clip.video,
        question=question,
        model=model.name,
        compressor=compressor.settings(),
        by_layer=reply.by_layer,
        answer=reply.text,
        cost=Cost.of(reply, len(tokens), layers, config),
        seconds=_on_cpu(tokens.seconds),
        rectangles=_on_cpu(tokens.rectangles),
        made_with=made_with(model.hf_model, asdict(sampling), clip.max_pixels, len(history)),
    )


def _on_cpu(geometry: Tensor | None) -> Tensor:
    """Return token times or rectangles on the CPU; ``ValueError`` if the adapter gave none."""
    if geometry is None:
        raise ValueError("the model adapter did not place its tokens in the source video")
    return geometry.cpu()
