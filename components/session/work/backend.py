"""The functions of ``gleanvid.pipeline`` that the engine calls, as a Protocol."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

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


class Backend(Protocol):
    """``model`` is what ``load_model`` gave; functions are those of ``gleanvid.pipeline``."""

    @property
    def MAX_SIDE(self) -> int: ...  # noqa: N802

    def load_model(self, name: str) -> Any: ...

    def read_video(
        self,
        path: str,
        num_frames: int,
        *,
        max_side: int | None,
        timeout_s: float,
        stop: threading.Event | None,
    ) -> Video: ...

    def remembered(self, clip: ClipKey, model: Any) -> EncodedClip | None: ...

    def encode(
        self, clip: ClipKey, model: Any, stop: threading.Event | None = None
    ) -> tuple[EncodedClip, bool]: ...

    def score(
        self,
        clip: ClipKey,
        question: str,
        answers: Sequence[str],
        model: Any,
        compressor: Compressor,
        *,
        stop: threading.Event | None = None,
    ) -> list[float]: ...

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
    ) -> Iterator[str | Run]: ...
