"""Streamer for generate(), with times of first and last token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from transformers import TextStreamer

from gleanvid.models.measure import now


class TimedStreamer(TextStreamer):
    """Streamer that passes text to ``on_text`` and stores the new tokens and their times.

    ``first_s`` and ``last_s``: times at which the first and the last new token arrived, in seconds
    of the clock of :func:`now`.
    """

    def __init__(
        self, tokenizer: Any, on_text: Callable[[str], None] | None, device: torch.device
    ) -> None:
        super().__init__(tokenizer, skip_prompt=True, skip_special_tokens=True)
        self.on_text, self.device = on_text, device
        self.first_s = self.last_s = 0.0
        self.new_ids: list[int] = []

    def put(self, value: Tensor) -> None:
        if not self.next_tokens_are_prompt:
            self.last_s = now(self.device)
            self.first_s = self.first_s or self.last_s
            self.new_ids += value.flatten().tolist()
        super().put(value)

    def on_finalized_text(self, text: str, stream_end: bool = False) -> None:
        if text and self.on_text is not None:
            self.on_text(text)
