"""What the engine calls to read clips and to ask models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # all of them import torch, which a server does after its first line
    import threading
    from collections.abc import Iterator

    from gleanvid.compressors.base import Compressor
    from gleanvid.models.encoded import ClipKey, History
    from gleanvid.models.generation.sampling import Sampling
    from gleanvid.run import Run
    from gleanvid.types import Video, VideoTokens


class EncodedClip(Protocol):
    """A clip that went through the vision side of a model."""

    @property
    def video(self) -> Video: ...

    @property
    def tokens(self) -> VideoTokens: ...

    @property
    def encode_s(self) -> float: ...


class Backend(ABC):
    """Reads clips, loads models and answers questions.

    ``model`` is always what :meth:`load_model` returned. Every method raises ``StoppedError`` once
    its ``stop`` is set.
    """

    @abstractmethod
    def load_model(self, name: str) -> Any:
        """Return the named model. Raises ``ModelError``."""

    @abstractmethod
    def read_video(
        self, path: str, num_frames: int, *, timeout_s: float, stop: threading.Event | None
    ) -> Video:
        """Return ``num_frames`` frames of a file, evenly spaced. Raises ``VideoError``."""

    @abstractmethod
    def remembered(self, clip: ClipKey, model: Any) -> EncodedClip | None:
        """Return the encoded clip if it is in memory. Does not wait for the model."""

    @abstractmethod
    def encode(self, clip: ClipKey, model: Any, stop: threading.Event | None = None) -> EncodedClip:
        """Return the clip encoded by the model's vision side, from memory if it is there."""

    @abstractmethod
    def score(
        self,
        clip: ClipKey,
        question: str,
        answer: str,
        model: Any,
        compressor: Compressor,
        *,
        stop: threading.Event | None = None,
    ) -> float:
        """Return the mean log-probability per token of ``answer`` under a compressor."""

    @abstractmethod
    def stream_answer(
        self,
        clip: ClipKey,
        question: str,
        model: Any,
        compressor: Compressor,
        sampling: Sampling,
        *,
        history: History = (),
        stop: threading.Event | None = None,
    ) -> Iterator[str | Run]:
        """Yield the answer as it grows, then its run. Closing the iterator frees the model."""
