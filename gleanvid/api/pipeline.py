"""Steps from a clip and a question to a :class:`Run`: encode, compress, answer, score.

Arguments are values that were checked before (``ClipKey``, ``Sampling``). The public
functions, which check plain values, are in :mod:`gleanvid.api`.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace

from gleanvid.compressors.base import Compressor
from gleanvid.cost import Answer, Cost, visual_tokens_by_layer
from gleanvid.models import load_model as load_model
from gleanvid.models.base import ModelAdapter
from gleanvid.models.encoded import ClipKey, Encoded, History
from gleanvid.models.generation.sampling import GREEDY, Sampling
from gleanvid.models.hooks.interrupt import interruptible
from gleanvid.models.token_model import TokenModel
from gleanvid.run import Run, made_with
from gleanvid.video import read_video as read_video

MAX_SIDE = 1280  # longest side of decoded frames in pixels; models shrink them further
_CACHED_CLIPS = 2  # number of encoded clips that each model caches


def encode(
    clip: ClipKey, model: TokenModel, stop: threading.Event | None = None
) -> tuple[Encoded, bool]:
    """Encode a clip by the model's vision side; also return whether it came from the cache.

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
    """Return the encoded clip from the cache, if present. Does not wait for the model."""
    clip = clip.bounded(model.max_pixels)
    for key, encoded in list(model.clips.items()):
        if key.serves(clip):
            with suppress(KeyError):  # another thread may just have removed it from the cache
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
    """Answer one question about a clip. Raises the errors of ``ModelAdapter.generate``."""
    clip, encoded = _prepared(clip, model, compressor, stop)
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
    """Return a run per question, each asked independently.

    The clip is encoded once. If the compressor does not read the question, the clip is also
    compressed and prefilled only once. The cost of the first run includes this shared work. Errors
    are those of :func:`answer`.
    """
    clip, encoded = _prepared(clip, model, compressor, stop)
    with model.lock, interruptible(model.hf_model, stop):
        talk = model.conversation(encoded, compressor)
    runs = []
    for question in questions:
        reply = talk.ask(question, sampling, history=history, on_text=on_text, stop=stop)
        runs.append(_run(clip, encoded, question, model, compressor, sampling, history, reply))
    own = runs[0].cost
    spent = {n: getattr(own, n) + getattr(talk, n) for n in ("compress_s", "prefill_s")}
    cost = replace(own, encode_s=encoded.encode_s, **spent)
    return [replace(runs[0], cost=cost), *runs[1:]]


def score(
    clip: ClipKey,
    question: str,
    answers: Sequence[str],
    model: ModelAdapter,
    compressor: Compressor | None,
    *,
    stop: threading.Event | None = None,
) -> list[float]:
    """Return the mean log-probability per token of each answer under a compressor.

    Raises ``ModelError`` if the model cannot answer, and ``StoppedError`` once ``stop`` is set.
    """
    clip, encoded = _prepared(clip, model, compressor, stop)
    with model.lock, interruptible(model.hf_model, stop):
        return model.conversation(encoded, compressor).score(question, answers)


def follow(work: Callable[..., Run], stop: threading.Event | None) -> Iterator[str | Run]:
    """Run ``work(on_text=, stop=)`` in a thread; yield the text as it grows, the result last.

    Closing the iterator sets ``stop`` and waits until the work is over. Errors of ``work`` are
    raised here.
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


def _prepared(
    clip: ClipKey, model: ModelAdapter, compressor: Compressor | None, stop: threading.Event | None
) -> tuple[ClipKey, Encoded]:
    """Encode the clip with the signals that the compressor needs, such as attention keys.

    Returns the cache key of the clip, with these signals, and the encoded clip. Raises
    ``ModelError`` if the model cannot answer.
    """
    model.check_can_answer()
    needs = clip.signals | (compressor.needs if compressor else frozenset())
    clip = replace(clip.bounded(model.max_pixels), signals=needs)
    return clip, encode(clip, model, stop)[0]


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
    """Build the run from the model's answer about an encoded clip."""
    tokens, config = encoded.tokens, model.text_config
    seconds, rectangles = tokens.placed()
    layers = visual_tokens_by_layer(reply.by_layer, len(tokens), config.num_hidden_layers)
    return Run(
        video=clip.video,
        question=question,
        model=model.name,
        compressor=compressor.settings(),
        by_layer=reply.by_layer,
        answer=reply.text,
        cost=Cost.of(reply, len(tokens), layers, config),
        seconds=seconds,
        rectangles=rectangles,
        made_with=made_with(model.hf_model, asdict(sampling), clip.max_pixels, len(history)),
    )
