"""Protocol of the members of ``ModelAdapter`` that generation uses."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor

from gleanvid.compressors.base import Compressor
from gleanvid.cost import Answer
from gleanvid.models.encoded import Encoded, History
from gleanvid.models.generation.context import Context
from gleanvid.models.generation.sampling import Sampling
from gleanvid.models.hooks import Layout


class Adapted(Protocol):
    """A loaded model; :class:`ModelAdapter` documents the members."""

    hf_model: Any
    processor: Any
    lock: threading.RLock
    layout: Layout

    @property
    def device(self) -> torch.device: ...

    @property
    def text_config(self) -> Any: ...

    @property
    def context(self) -> Context: ...

    def prompt(self, encoded: Encoded, question: str, history: History) -> dict[str, Any]: ...

    def answer_ids(
        self, encoded: Encoded, question: str, answer: str, history: History
    ) -> Tensor: ...

    def generate(
        self,
        encoded: Encoded,
        question: str,
        compressor: Compressor | None,
        sampling: Sampling,
        *,
        history: History = (),
        on_text: Callable[[str], None] | None = None,
        stop: threading.Event | None = None,
    ) -> Answer: ...
