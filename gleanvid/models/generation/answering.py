"""Generate one answer: stream its text and time its tokens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from transformers import GenerationConfig

from gleanvid.cost import Answer
from gleanvid.models.generation.adapted import Adapted
from gleanvid.models.generation.sampling import Sampling, seeded
from gleanvid.models.generation.streaming import TimedStreamer
from gleanvid.models.hooks import Prefill, last_logits_only
from gleanvid.models.hooks.interrupt import interruptible
from gleanvid.models.measure import now, peak_memory_mib, reset_peak_memory
from gleanvid.types import StoppedError


def generation_config(sampling: Sampling, longest: int | None = None) -> GenerationConfig:
    """Return a configuration that sets every sampling option, so no checkpoint default applies.

    ``longest``: the checkpoint's own limit on the tokens of an answer; None if it has no limit.
    """
    length = min(sampling.max_new_tokens, longest or sampling.max_new_tokens)
    if sampling.greedy:
        return GenerationConfig(
            max_new_tokens=length, do_sample=False, temperature=1.0, top_p=1.0, top_k=50
        )
    return GenerationConfig(
        max_new_tokens=length,
        do_sample=True,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=0,
    )


def write_answer(
    model: Adapted,
    inputs: Mapping[str, Any],
    prefill: Prefill,
    prompt_tokens: int,
    sampling: Sampling,
    *,
    on_text: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
) -> Answer:
    """Answer a prompt, and return the answer with its cost.

    Args:
        model: the model, with the compression hooks installed.
        inputs: the prompt, or the part of it that is not in the cache yet.
        prefill: where the hooks store their compression records.
        prompt_tokens: length of the whole prompt before compression.
        sampling: how to choose tokens. The checkpoint's own limit on the length of an answer
            applies, too.
        on_text: gets the answer in pieces as it is generated.
        stop: once set, generation ends before the next layer.

    Raises:
        StoppedError: ``stop`` was set before the first token. Later, the answer so far is returned.
    """
    tokenizer, device = model.processor.tokenizer, model.device
    streamer = TimedStreamer(tokenizer, on_text, device)
    stated = model.hf_model.generation_config.max_new_tokens
    compressed_s = prefill.compress_s  # compression time before this call
    reset_peak_memory(device)
    start = now(device)
    with (
        seeded(sampling.seed, device),
        interruptible(model.hf_model, stop),
        last_logits_only(model.hf_model),
    ):
        try:
            model.hf_model.generate(
                **inputs, generation_config=generation_config(sampling, stated), streamer=streamer
            )
        except StoppedError:
            if not streamer.new_ids:
                raise
            streamer.end()  # passes the text on that it holds back
    compress_s = prefill.compress_s - compressed_s
    kept = prefill.prompt_tokens_kept
    dropped = prefill.prompt_tokens[0] - kept[0] if kept else 0
    return Answer(
        tokenizer.decode(streamer.new_ids, skip_special_tokens=True).strip(),
        {layer: rows[0][0].to("cpu") for layer, rows in prefill.stages.items()},
        prompt_tokens,
        prompt_tokens - dropped,
        compress_s,
        streamer.first_s - start - compress_s,
        streamer.last_s - streamer.first_s,
        len(streamer.new_ids),
        peak_memory_mib(device),
    )
