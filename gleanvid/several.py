"""Several questions about one video, and one about several videos, as runs."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from gleanvid.models.base import ModelAdapter
from gleanvid.models.boundary.interrupt import interruptible
from gleanvid.models.cost.accounts import cost_of
from gleanvid.models.cost.flops import prefill_flops
from gleanvid.models.encoded import Answer, ClipKey, History
from gleanvid.models.generation.sampling import GREEDY, Sampling
from gleanvid.models.generation.several import answer_about
from gleanvid.pipeline import Method, described, encode, placed
from gleanvid.run import Cost, Run, visual_tokens_by_layer
from gleanvid.types import Video


def answer_questions(
    clip: ClipKey,
    questions: Sequence[str],
    model: ModelAdapter,
    compressor: Method,
    sampling: Sampling = GREEDY,
    *,
    history: History = (),
    on_text: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
    decode_s: float = 0.0,
) -> list[Run]:
    """A run a question, each asked as if alone; the clip is encoded once, and read once where the
    compressor does not read the question. What is done once counts in the first run.
    """
    clip = replace(clip.bounded(model.max_pixels), signals=clip.signals | compressor.needs)
    encoded, cached = encode(clip, model, stop)
    with model.lock, interruptible(model.hf_model, stop):
        talk = model.conversation(encoded, compressor)
    runs: list[Run] = []
    once = talk.compress_s, talk.prefill_s, decode_s, 0.0 if cached else encoded.encode_s
    for question in questions:
        answer = talk.ask(question, sampling, history=history, on_text=on_text, stop=stop)
        compress_s, prefill_s, read_s, encode_s = once if not runs else (0.0, 0.0, 0.0, 0.0)
        answer = replace(
            answer,
            compress_s=answer.compress_s + compress_s,
            prefill_s=answer.prefill_s + prefill_s,
        )
        run = Run(
            **described(clip, question, model, compressor, sampling, len(history)),
            by_layer=answer.by_layer,
            answer=answer.text,
            cost=cost_of(answer, encoded, model.text_config, read_s, encode_s),
            seconds=placed(encoded.tokens.seconds),
            rectangles=placed(encoded.tokens.rectangles),
        )
        runs.append(run)
    return runs


def answer_videos(
    videos: Sequence[Video],
    question: str,
    model: ModelAdapter,
    compressor: Method,
    sampling: Sampling = GREEDY,
    *,
    max_pixels: int | None = None,
    on_text: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
    decode_s: float = 0.0,
) -> list[Run]:
    """A run a video, with its own tokens and the answer that they share.

    Times, prompt tokens and FLOPs are those of the whole prompt; ``prefill_s`` includes the vision
    tower. Raises what ``answer_about`` raises.
    """
    asked = model, videos, question, compressor, sampling
    more: dict[str, Any] = {"max_pixels": max_pixels, "on_text": on_text, "stop": stop}
    answer, parts = answer_about(*asked, **more)
    depth = model.text_config.num_hidden_layers
    totals = [math.prod(part.grid) for part in parts]
    layers = [
        visual_tokens_by_layer(part.by_layer, total, depth)
        for part, total in zip(parts, totals, strict=True)
    ]
    whole = _cost_of_all(model, answer, totals, layers, decode_s)
    return [
        Run(
            **described(
                ClipKey(video, model.name, max_pixels), question, model, compressor, sampling
            ),
            by_layer=part.by_layer,
            answer=answer.text,
            cost=replace(
                whole, visual_tokens=total, visual_tokens_kept=own[0], visual_tokens_by_layer=own
            ),
            seconds=part.seconds,
            rectangles=part.rectangles,
        )
        for video, part, total, own in zip(videos, parts, totals, layers, strict=True)
    ]


def _cost_of_all(
    model: ModelAdapter,
    answer: Answer,
    totals: Sequence[int],
    layers: Sequence[Sequence[int]],
    decode_s: float,
) -> Cost:
    """The cost of the whole prompt; ``layers``: visual tokens entering each, by video."""
    text = answer.prompt_tokens - sum(totals)
    entering = [sum(counts) for counts in zip(*layers, strict=True)]
    work = [prefill_flops(model.text_config, text + count) for count in entering]
    return Cost(
        visual_tokens=sum(totals),
        visual_tokens_kept=entering[0],
        prompt_tokens=answer.prompt_tokens,
        prompt_tokens_kept=answer.prompt_tokens_kept,
        decode_s=decode_s,
        encode_s=0.0,
        compress_s=answer.compress_s,
        prefill_s=answer.prefill_s,
        generate_s=answer.generate_s,
        new_tokens=answer.new_tokens,
        peak_memory_mib=answer.peak_memory_mib,
        prefill_flops=sum(work) / len(work),
        prefill_flops_full=prefill_flops(model.text_config, answer.prompt_tokens),
        visual_tokens_by_layer=tuple(entering),
    )
