"""Base class of models that encode clips into tokens."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from typing import Any

import torch

from gleanvid.models.encoded import Encoded
from gleanvid.types import ModelError, Video


class TokenModel(ABC):
    """A model that encodes clips: a recording, an encoder, or a Video LLM (which also answers).

    These members suffice to compress, diagnose or record a clip. Hold ``lock`` while the model is
    used. ``clips`` is a cache of encoded clips that ``pipeline.encode`` manages.

    Args:
        name: the name that the model was loaded by.
        max_pixels: bound on the pixels of all frames of a clip together; ``encode`` may override
            it.
    """

    cannot_answer: str = ""  # error message of a model that cannot answer; "" if it can answer

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
        """Number of layers of the language model; 0 if the model has no language model."""
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
        """Return the visual tokens of a clip, with the vision signals named in ``needs``.

        Raises ``ModelError`` if the model cannot compute a signal, or if memory runs out.
        """

    def check_can_answer(self) -> None:
        """Raise ``ModelError`` for a model without a language model: a recording or an encoder."""
        if self.cannot_answer:
            raise ModelError(self.cannot_answer)

    def generate(self, *_: Any, **__: Any) -> Any:
        """Raise ``ModelError``; only Video LLMs, which override this, can answer."""
        raise ModelError(self.cannot_answer)

    def conversation(self, *_: Any, **__: Any) -> Any:
        """Raise ``ModelError``; only Video LLMs, which override this, can answer."""
        raise ModelError(self.cannot_answer)
