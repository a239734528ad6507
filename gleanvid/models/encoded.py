"""What goes through a model: the encoded video, earlier turns, and the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from gleanvid.types import Compression, Video, VideoTokens

History = Sequence[tuple[str, str]]  # (question, answer) of earlier turns about the same video


@dataclass(frozen=True, eq=False)
class Encoded:
    """One video through a model's vision side, ready for any question and any compressor.

    ``tokens.features`` [L, D] are what the language model receives; ``tokens.seconds`` [T, 2];
    ``tokens.rectangles`` [N, 4] pixels of the source. ``encode_s``: processor, vision tower,
    projector.
    """

    video: Video
    tokens: VideoTokens
    encode_s: float
    prefix: str = field(repr=False)  # the prompt up to and including the video placeholder
    inputs: Mapping[str, Any] = field(repr=False)  # model inputs of the prefix, pixels emptied
    vision: Any = field(repr=False)  # output of the vision side

    @property
    def signals(self) -> dict[str, Tensor]:
        """The vision signals that were computed, by name."""
        named = {"saliency": self.tokens.saliency, "keys": self.tokens.keys}
        return {name: rows for name, rows in named.items() if rows is not None}


@dataclass(frozen=True, eq=False)
class Answer:
    """What the model said and what it took. ``by_layer`` is on the CPU; seconds are synchronised.

    ``prefill_s`` runs from the question to the first token without ``compress_s``; ``generate_s``
    from the first token to the last. ``peak_memory_mib``: device memory on CUDA, else the whole
    process.
    """

    text: str
    by_layer: dict[int, Compression]
    prompt_tokens: int
    prompt_tokens_kept: int  # entering layer 0
    compress_s: float
    prefill_s: float
    generate_s: float
    new_tokens: int
    peak_memory_mib: float
