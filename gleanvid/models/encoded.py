"""Values passed between pipeline and models: encoded clips, cache keys and chat histories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gleanvid.types import Video, VideoTokens

if TYPE_CHECKING:
    from torch import Tensor

History = Sequence[tuple[str, str]]  # (question, answer) of earlier turns about the same video


@dataclass(frozen=True)
class ClipKey:
    """Cache key of an encoded clip: everything on which the stored output depends.

    Args:
        video: the frames; videos are compared by identity.
        model: name of the model.
        max_pixels: bound on the pixels of all frames together; None: the bound that the model was
            loaded with.
        signals: names of the vision signals that were computed ("saliency", "keys").
    """

    video: Video
    model: str
    max_pixels: int | None = None
    signals: frozenset[str] = frozenset()

    def bounded(self, limit: int | None) -> ClipKey:
        """Return the cache key with the model's ``limit`` as ``max_pixels`` if that is None."""
        return replace(self, max_pixels=limit) if self.max_pixels is None else self

    def serves(self, wanted: ClipKey) -> bool:
        """Return whether the clip stored under this key can be used for the key ``wanted``.

        It can if all but the signals are equal and no signal is missing.
        """
        bare = replace(wanted, signals=self.signals)
        return self == bare and wanted.signals <= self.signals


@dataclass(frozen=True, eq=False)
class Encoded:
    """Output of vision tower and projector for one video, for any question and compressor.

    ``tokens``: the visual tokens before compression, as the language model would receive them, with
    their times and rectangles in the video. ``encode_s``: seconds of processor, vision tower and
    projector.
    """

    video: Video
    tokens: VideoTokens
    encode_s: float
    prefix: str = field(repr=False)  # text of the prompt up to and including the video
    inputs: Mapping[str, Any] = field(repr=False)  # model inputs for ``prefix``, without pixels
    vision: Any = field(repr=False)  # output of the vision side, in the model's own class

    @property
    def signals(self) -> dict[str, Tensor]:
        """The optional inputs of compressors that were computed, by name, such as "saliency"."""
        named = {"saliency": self.tokens.saliency, "keys": self.tokens.keys}
        return {name: rows for name, rows in named.items() if rows is not None}
