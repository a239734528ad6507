"""The interface through which the engine reads clips and asks models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

# Importing torch is slow, and the server must print its first line before that.
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gleanvid.attribution.relevance import Relevance
    from gleanvid.compressors.base import Compressor
    from gleanvid.models.encoded import ClipKey
    from gleanvid.models.generation.sampling import Sampling
    from gleanvid.run import Run
    from gleanvid.types import Video, VideoTokens


Progress = Callable[[int, int], object]  # called with the numbers of decoded and of all frames


class Sampled(NamedTuple):
    """Number of frames to read, and the time span in seconds; None: start or end of clip."""

    num_frames: int
    start: float | None = None
    end: float | None = None


class EncodedClip(Protocol):
    """A clip encoded by the vision encoder of a model."""

    @property
    def video(self) -> Video: ...

    @property
    def tokens(self) -> VideoTokens: ...

    @property
    def encode_s(self) -> float: ...


@dataclass(frozen=True)
class Question:
    """A question about a clip, and the compressor that chooses the clip's tokens for it."""

    clip: ClipKey
    text: str
    compressor: Compressor
    sampling: Sampling


class Backend(ABC):
    """Reads clips, loads models and answers questions.

    ``model`` is always what :meth:`load_model` returned. Methods raise ``StoppedError`` once their
    ``stop`` is set; :meth:`stream_answer` ends the answer instead if it has begun.
    """

    @abstractmethod
    def load_model(self, name: str) -> Any:
        """Return the named model. Raises ``ModelError``."""

    @abstractmethod
    def read_video(
        self, path: str, frames: int | Sampled, timeout_s: float, stop: Event, progress: Progress
    ) -> Video:
        """Return evenly spaced ``frames``. Raises ``VideoError``, also after ``timeout_s``."""

    @abstractmethod
    def remembered(self, clip: ClipKey, model: Any) -> EncodedClip | None:
        """Return the encoded clip if it is in memory. Does not wait for the model."""

    @abstractmethod
    def encode(self, clip: ClipKey, model: Any, stop: Event) -> EncodedClip:
        """Return the clip encoded by the model's vision encoder, from memory if possible."""

    @abstractmethod
    def relevance(
        self, clip: ClipKey, question: str, answer: str, model: Any, stop: Event
    ) -> Relevance:
        """Return each token's relevance for an answer. Raises ``ModelError`` if impossible."""

    @abstractmethod
    def stream_answer(self, question: Question, model: Any, stop: Event) -> Iterator[str | Run]:
        """Yield the growing answer, then its run. Closing the iterator frees the model."""
