"""What a page or an endpoint asks for: a clip, how it is read, and how it is compressed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from components.panels.settings import LONGEST, NEW_TOKENS, SEEDS, clamped
from gleanvid.compressors.base import Compressor
from gleanvid.types import Video

NO_CLIP = "Choose a clip first: upload one, or take an example."
NO_QUESTION = "Type a question first."
TOO_LONG = f"A question may have {LONGEST:,} characters; this one has {{count:,}}."
SAMPLING = {  # least and greatest value
    "seed": (0, SEEDS),
    "temperature": (0, 2),
    "top_p": (0.01, 1),
    "max_new_tokens": NEW_TOKENS[::2],
}


@dataclass(frozen=True)
class Request:
    """What a page asks for. ``compressor`` is made when used, so a bad setting is reported here.

    ``pixels``: most pixels of a frame as the model sees it, 0 for the model's own limit.
    """

    path: str | None
    frames: int
    model: str
    compressor: Callable[[], Compressor]
    pixels: int = 0
    sampling: Mapping[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Raises ``ValueError`` for what no widget of the page can send."""
        clamped("frames", self.frames, 1, 1024)
        clamped("pixels", self.pixels, 0, 2**24)
        for name, (low, high) in SAMPLING.items():
            if name in self.sampling:
                clamped(name, self.sampling[name], low, high)

    def missing(self, question: str) -> str:
        """What stands in the way of asking, as a sentence; empty where nothing does."""
        if not self.path or not question.strip():
            return NO_QUESTION if self.path else NO_CLIP
        return TOO_LONG.format(count=len(question)) if len(question) > LONGEST else ""

    def max_pixels(self, video: Video) -> int | None:
        return self.pixels * len(video) or None
