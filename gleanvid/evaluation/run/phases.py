"""Measure the seconds of every phase of answering a question, such as encoding and prefill.

The clip is encoded, compressed and prefilled again, as by a server that gets single requests.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from gleanvid.compressors.base import Compressor
from gleanvid.cost import Answer, prefill_flops, visual_tokens_by_layer
from gleanvid.models.base import ModelAdapter
from gleanvid.models.generation.sampling import Sampling
from gleanvid.models.measure import now, peak_memory_mib, reset_peak_memory
from gleanvid.types import Compression, Video


@dataclass(frozen=True)
class ItemCost:
    """The cost of answering one question.

    Seconds are wall-clock time. On a GPU, they include the wait for a phase's work to finish.
    """

    preprocess_s: float  # resizing and normalising frames, on the CPU
    vision_s: float  # vision tower, projector, and signals for the compressor such as saliency
    compress_s: float
    prefill_s: float  # language model: from the prompt to the first token
    generate_s: float  # language model: from the first token to the last
    total_s: float
    peak_memory_mib: float  # peak memory of the device; on the CPU, of the process
    peak_llm_memory_mib: float  # peak memory after vision encoding; on the CPU, of the process
    visual_tokens: int
    visual_tokens_kept: int  # visual tokens that enter layer 0
    average_retention: float  # fraction of the visual tokens that a layer reads, mean over layers
    prompt_tokens: int
    prompt_tokens_kept: int
    new_tokens: int
    prefill_flops: float  # multiply-accumulates of the language model

    @property
    def first_token_s(self) -> float:
        """Seconds from the preprocessed frames to the first token."""
        return self.vision_s + self.compress_s + self.prefill_s


def measure_item(
    model: ModelAdapter,
    video: Video,
    method: Compressor,
    question: str,
    new_tokens: int,
    max_pixels: int | None = None,
) -> tuple[ItemCost, Answer]:
    """Answer a question with up to ``new_tokens`` tokens, and measure every phase's cost."""
    gc.collect()
    reset_peak_memory(model.device)
    with _timed_inputs(model) as spent:
        encoded = model.encode(video, method.needs - {"text"}, max_pixels=max_pixels)
    peak = peak_memory_mib(model.device)
    answer = model.generate(encoded, question, method, Sampling(new_tokens))
    total, text_config = len(encoded.tokens), model.text_config
    by_layer: dict[int, Compression] = answer.by_layer
    layers = visual_tokens_by_layer(by_layer, total, text_config.num_hidden_layers)
    text = answer.prompt_tokens - total
    work = [prefill_flops(text_config, text + count) for count in layers]
    vision_s = encoded.encode_s - spent[0]
    cost = ItemCost(
        preprocess_s=spent[0],
        vision_s=vision_s,
        compress_s=answer.compress_s,
        prefill_s=answer.prefill_s,
        generate_s=answer.generate_s,
        total_s=encoded.encode_s + answer.compress_s + answer.prefill_s + answer.generate_s,
        peak_memory_mib=max(peak, answer.peak_memory_mib),
        peak_llm_memory_mib=answer.peak_memory_mib,
        visual_tokens=total,
        visual_tokens_kept=layers[0],
        average_retention=sum(layers) / len(layers) / total,
        prompt_tokens=answer.prompt_tokens,
        prompt_tokens_kept=answer.prompt_tokens_kept,
        new_tokens=answer.new_tokens,
        prefill_flops=sum(work) / len(work),
    )
    return cost, answer


@contextmanager
def _timed_inputs(model: ModelAdapter) -> Iterator[list[float]]:
    """Yield a list of one number: the seconds spent in the model's processor so far."""
    spent, original = [0.0], model.build_inputs

    def build_inputs(*args: Any) -> Any:
        started = now(torch.device("cpu"))
        inputs = original(*args)
        spent[0] += now(torch.device("cpu")) - started
        return inputs

    model.build_inputs = build_inputs  # type: ignore[method-assign, assignment]
    try:
        yield spent
    finally:
        del model.build_inputs  # restores the class's own method
