"""Values passed between pipeline and models: clip key, encoded clip, history."""

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
    """Key of an encoded clip: its frames, their size, the model and its signals.

    Videos are compared by identity. ``max_pixels``: bound on the pixels of all frames together
    (None: the bound that the model was loaded with); ``signals``: names of the vision signals
    computed in addition to the tokens ("saliency", "keys").
    """

    video: Video
    model: str
    max_pixels: int | None = None
    signals: frozenset[str] = frozenset()

    def bounded(self, limit: int | None) -> ClipKey:
        """Return the key; replace ``max_pixels`` by ``limit``, the model's bound, if it is None."""
        return replace(self, max_pixels=limit) if self.max_pixels is None else self

    def serves(self, wanted: ClipKey) -> bool:
        """Return whether a clip encoded for this key can be used for the key ``wanted``."""
        bare = replace(wanted, signals=self.signals)
        return self == bare and wanted.signals <= self.signals


@dataclass(frozen=True, eq=False)
class Encoded:
    """Stored output of the vision side for one video, for any question and compressor.

    ``tokens.features`` [L, D]: the rows of the L visual tokens that the language model receives;
    ``tokens.seconds`` [T, 2]: start and end of T temporal units; ``tokens.rectangles`` [N, 4]: the
    N tokens of a unit in source pixels. ``encode_s``: seconds of processor, tower and projector.
    """

    video: Video
    tokens: VideoTokens
    encode_s: float
    prefix: str = field(repr=False)  # the prompt up to and including the video placeholder
    inputs: Mapping[str, Any] = field(repr=False)  # model inputs of the prefix without pixel values
    vision: Any = field(repr=False)  # output of the vision side

    @property
    def signals(self) -> dict[str, Tensor]:
        """The vision signals that were computed, by name."""
        named = {"saliency": self.tokens.saliency, "keys": self.tokens.keys}
        return {name: rows for name, rows in named.items() if rows is not None}
