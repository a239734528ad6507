"""One question answered and what it cost: all that plots, metrics and the app read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from gleanvid.types import Compression, Video


@dataclass(frozen=True)
class Cost:
    """What a run took. Seconds are wall clock, synchronised with the device."""

    visual_tokens: int  # entering the language model without compression
    visual_tokens_kept: int
    prompt_tokens: int  # whole prompt, before compression
    prompt_tokens_kept: int
    decode_s: float  # reading the video file
    encode_s: float  # vision tower and projector; 0.0 where the clip was cached
    compress_s: float
    prefill_s: float  # language model, prompt to first token
    generate_s: float  # first token to last
    new_tokens: int
    peak_memory_mib: float
    prefill_flops: float  # multiply-accumulates, Eq. llm_flops, after compression
    prefill_flops_full: float  # the same for the whole prompt

    @property
    def flops_reduction(self) -> float:
        """Share of prefill FLOPs saved (Eq. flops_reduction)."""
        return 1.0 - self.prefill_flops / self.prefill_flops_full

    @property
    def ttft_s(self) -> float:
        """Time to first token: encode, compress and prefill."""
        return self.encode_s + self.compress_s + self.prefill_s

    @property
    def tokens_per_s(self) -> float:
        return (self.new_tokens - 1) / self.generate_s if self.generate_s > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Run:
    """One question answered: everything shown or measured is a function of this. Tensors on the CPU.

    ``by_layer`` maps the language-model layer that a stage acts before (0 = ahead of the model) to its
    record. ``seconds`` [T, 2] and ``rectangles`` [N, 4] place the tokens in the source.
    """

    video: Video
    question: str
    model: str
    compressor: Mapping[str, object]  # settings, with "name"
    by_layer: Mapping[int, Compression]
    answer: str
    cost: Cost
    seconds: Tensor
    rectangles: Tensor

    @property
    def compression(self) -> Compression:
        """The record of the stage ahead of the language model."""
        return self.by_layer[min(self.by_layer)]
