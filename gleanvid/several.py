"""Several questions about one video, and one about several videos, as runs."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace

from gleanvid.models.base import ModelAdapter
from gleanvid.models.boundary.interrupt import interruptible
from gleanvid.models.cost.accounts import cost_of, made_with
from gleanvid.models.cost.flops import prefill_flops
from gleanvid.models.encoded import ClipKey, History
from gleanvid.models.generation.sampling import GREEDY, Sampling
from gleanvid.models.generation.several import answer_about
from gleanvid.pipeline import Method, encode, placed
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
            video=clip.video,
            question=question,
            model=model.name,
            compressor=compressor.settings(),
            by_layer=answer.by_layer,
            answer=answer.text,
            cost=cost_of(answer, encoded, model.text_config, read_s, encode_s),
            seconds=placed(encoded.tokens.seconds),
            rectangles=placed(encoded.tokens.rectangles),
            made_with=made_with(model.hf_model, asdict(sampling), clip.max_pixels, len(history)),
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
    """A run a video, with its own tokens and the answer that they share. Times, prompt tokens and
    FLOPs are those of the whole prompt; ``prefill_s`` includes encoding."""
    answer, parts = answer_about(
        model, videos, question, compressor, sampling, max_pixels=max_pixels, on_text=on_text,
        stop=stop,
    )  # fmt: skip
    config = model.text_config
    totals = [math.prod(part.grid) for part in parts]
    layers = [
        visual_tokens_by_layer(part.by_layer, total, config.num_hidden_layers)
        for part, total in zip(parts, totals, strict=True)
    ]
    text = answer.prompt_tokens - sum(totals)
    entering = [text + sum(counts) for counts in zip(*layers, strict=True)]
    flops = sum(prefill_flops(config, count) for count in entering) / len(entering)
    return [
        Run(
            video=video,
            question=question,
            model=model.name,
            compressor=compressor.settings(),
            by_layer=part.by_layer,
            answer=answer.text,
            cost=Cost(
                visual_tokens=total,
                visual_tokens_kept=own[0],
                prompt_tokens=answer.prompt_tokens,
                prompt_tokens_kept=answer.prompt_tokens_kept,
                decode_s=decode_s,
                encode_s=0.0,
                compress_s=answer.compress_s,
                prefill_s=answer.prefill_s,
                generate_s=answer.generate_s,
                new_tokens=answer.new_tokens,
                peak_memory_mib=answer.peak_memory_mib,
                prefill_flops=flops,
                prefill_flops_full=prefill_flops(config, answer.prompt_tokens),
                visual_tokens_by_layer=own,
            ),
            seconds=part.seconds,
            rectangles=part.rectangles,
            made_with=made_with(model.hf_model, asdict(sampling), max_pixels, 0),
        )
        for video, part, total, own in zip(videos, parts, totals, layers, strict=True)
    ]
