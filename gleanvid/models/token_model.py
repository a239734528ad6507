"""Base class of models that encode clips into tokens."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from typing import Any, NoReturn

import torch

from gleanvid.models.encoded import Encoded
from gleanvid.types import Compression, ModelError, Video, VideoTokens


class TokenModel(ABC):
    """A model that encodes clips: recordings, encoders, and Video LLMs, which also answer.

    Compressing, diagnosing and recording a clip need no more than this. ``lock`` serialises the
    model; ``clips`` are the recent ones, kept by ``pipeline.encode``.

    Args:
        name: the name it was loaded by.
        max_pixels: bound on the pixels of all frames of a clip together; ``encode`` may override
            it.
    """

    cannot_answer: str = (
        ""  # why the model cannot answer, as a sentence with an alternative; "" if it can
    )

    def __init__(self, name: str, max_pixels: int | None = None) -> None:
        self.name, self.max_pixels = name, max_pixels
        self.lock = threading.RLock()
        self.clips: OrderedDict[Any, Encoded] = OrderedDict()

    @property
    @abstractmethod
    def device(self) -> torch.device:
        """Device on which clips are encoded."""

    @property
    def num_layers(self) -> int:
        """Layers of the language model; 0 without one."""
        return 0

    @abstractmethod
    def encode(
        self,
        video: Video,
        needs: frozenset[str] = frozenset(),
        *,
        max_pixels: int | None = None,
        stop: threading.Event | None = None,
    ) -> Encoded:
        """Return the tokens of a clip with the signals in ``needs``. Raises ``ModelError``."""

    def labels(self, tokens: VideoTokens, record: Compression) -> list[dict[str, Any]] | None:
        """Return labels of the tokens, ready for JSON; None if the model has none."""
        return None

    def check_can_answer(self) -> None:
        """Raise ``ModelError`` unless the model can answer; call it before encoding a clip."""
        if self.cannot_answer:
            raise ModelError(self.cannot_answer)

    def generate(self, *_: Any, **__: Any) -> Any:
        """Raises ``ModelError``; a Video LLM answers."""
        self._refuse()

    def conversation(self, *_: Any, **__: Any) -> Any:
        """Raises ``ModelError``; a Video LLM answers."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise ModelError(self.cannot_answer)
