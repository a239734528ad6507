"""The cost of an answer: tokens, seconds, memory and multiply-accumulates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gleanvid.types import Compression


@dataclass(frozen=True, eq=False)
class Answer:
    """An answer with its cost. Seconds are wall clock, synchronised with a GPU.

    ``by_layer`` maps a layer of the language model to the record of the compression stage before
    it; the record's tensors are on the CPU. ``prefill_s``: from the prompt to the first token,
    without ``compress_s``. ``generate_s``: from the first token to the last. ``peak_memory_mib``:
    device memory on CUDA, else the memory of the whole process.
    """

    text: str
    by_layer: dict[int, Compression]
    prompt_tokens: int
    prompt_tokens_kept: int  # prompt tokens that enter layer 0
    compress_s: float
    prefill_s: float
    generate_s: float
    new_tokens: int
    peak_memory_mib: float


@dataclass(frozen=True)
class Cost:
    """The cost of a run. Seconds are wall clock, synchronised with the device.

    Args:
        visual_tokens: Visual tokens entering the language model without compression.
        visual_tokens_kept: Visual tokens entering its layer 0 with compression.
        prompt_tokens: Tokens of the whole prompt before compression.
        prompt_tokens_kept: Tokens of the whole prompt entering layer 0 with compression.
        decode_s: Time to read the video file.
        encode_s: Time of vision tower and projector, even if they ran for an earlier question.
        compress_s: Time of the compressor.
        prefill_s: Time of the language model, from the prompt to the first token.
        generate_s: Time from the first token to the last.
        new_tokens: Tokens of the answer.
        peak_memory_mib: Peak memory of the GPU on CUDA, else of the whole process.
        prefill_flops: Multiply-accumulates of the prefill; each of them is two operations.
        prefill_flops_full: ``prefill_flops`` of the prompt without compression.
        visual_tokens_by_layer: Visual tokens entering each layer at prefill.

    >>> run = ask("assets/clips/glimpse_1.mp4", "What is there?", max_new_tokens=4, num_frames=4)
    >>> run.cost.average_retention, run.cost.flops_reduction > 0.5
    (0.25, True)
    """

    visual_tokens: int
    visual_tokens_kept: int
    prompt_tokens: int
    prompt_tokens_kept: int
    decode_s: float
    encode_s: float
    compress_s: float
    prefill_s: float
    generate_s: float
    new_tokens: int
    peak_memory_mib: float
    prefill_flops: float
    prefill_flops_full: float
    visual_tokens_by_layer: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, answer: Answer, visual_tokens: int, by_layer: Sequence[int], text_config: Any
    ) -> Cost:
        """Return an answer's cost without the time to read and encode the frames.

        Args:
            answer: the answer of the model, with its times.
            visual_tokens: number of visual tokens in the prompt without compression.
            by_layer: visual tokens entering each layer, see :func:`visual_tokens_by_layer`.
            text_config: the configuration of the language model.
        """
        text = answer.prompt_tokens - visual_tokens
        flops = [prefill_flops(text_config, text + count) for count in by_layer]
        return cls(
            visual_tokens=visual_tokens,
            visual_tokens_kept=by_layer[0],
            prompt_tokens=answer.prompt_tokens,
            prompt_tokens_kept=answer.prompt_tokens_kept,
            decode_s=0.0,
            encode_s=0.0,
            compress_s=answer.compress_s,
            prefill_s=answer.prefill_s,
            generate_s=answer.generate_s,
            new_tokens=answer.new_tokens,
            peak_memory_mib=answer.peak_memory_mib,
            prefill_flops=sum(flops) / len(flops),
            prefill_flops_full=prefill_flops(text_config, answer.prompt_tokens),
            visual_tokens_by_layer=tuple(by_layer),
        )

    @classmethod
    def tokens_only(cls, record: Compression) -> Cost:
        """Token counts of a clip compressed without a question; times, memory and FLOPs are NaN."""
        seconds = (math.nan,) * 5
        return cls(record.num_tokens, record.num_kept, 0, 0, *seconds, 0, *(math.nan,) * 3)

    @property
    def average_retention(self) -> float:
        """Fraction of the visual tokens that a layer of the language model sees, on average."""
        seen = self.visual_tokens_by_layer or (self.visual_tokens_kept,)
        return sum(seen) / len(seen) / self.visual_tokens

    @property
    def flops_reduction(self) -> float:
        """Fraction of the prefill's multiply-accumulates that compression saves."""
        return 1.0 - self.prefill_flops / self.prefill_flops_full

    @property
    def ttft_s(self) -> float:
        """Time to first token, from the decoded frames on: encode, compress and prefill.

        Encoding counts even if it was done for an earlier question; reading the file does not.
        """
        return self.encode_s + self.compress_s + self.prefill_s

    @property
    def tokens_per_s(self) -> float:
        """Tokens generated per second after the first token; 0 if the answer has only one."""
        is_timed = self.new_tokens > 1 and self.generate_s > 0
        return (self.new_tokens - 1) / self.generate_s if is_timed else 0.0


def visual_tokens_by_layer(
    by_layer: Mapping[int, Compression], total: int, num_layers: int
) -> tuple[int, ...]:
    """Return the number of visual tokens that enter each of ``num_layers`` layers.

    ``by_layer`` maps a layer to the record of the compression stage that acts before it.
    ``total``: number of visual tokens before the first stage.
    """
    counts, entering = [], total
    for layer in range(num_layers):
        entering = by_layer[layer].num_kept if layer in by_layer else entering
        counts.append(entering)
    return tuple(counts)


def prefill_flops(text_config: Any, n: float) -> float:
    """Return the multiply-accumulates of the language model for reading ``n`` tokens.

    The formula is layers * (2 n d^2 (1 + g/a) + 2 n^2 d + 3 n d m), with hidden size d, MLP width
    m, a query heads and g key/value heads. It leaves out the output head, counts no saving from the
    causal mask, and assumes d = a * head_dim.
    """
    hidden, width = text_config.hidden_size, text_config.intermediate_size
    heads = text_config.num_attention_heads
    groups = getattr(text_config, "num_key_value_heads", None) or heads
    projections = 2 * n * hidden * hidden * (1 + groups / heads)
    attention = 2 * n * n * hidden
    return text_config.num_hidden_layers * (projections + attention + 3 * n * hidden * width)
