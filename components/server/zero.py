"""ZeroGPU of Hugging Face Spaces: whatever needs the model runs in functions that are lent a GPU.

Such a function runs in another process. Values go there and come back as copies, so models are
named instead of handed over, results lie on the CPU, and a stop is noticed between two pieces of
an answer. Where the package ``spaces`` is not installed, nothing here takes part.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import fields, replace
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import torch

from gleanvid.run import Run
from gleanvid.types import StoppedError, Video, VideoTokens

SECONDS = 90
_KEPT_CLIPS = 4


def lent(library: Any, seconds: int = SECONDS) -> Any:
    """``library``, its work with the model on a lent GPU where ``spaces`` is installed."""
    if find_spec("spaces") is None:
        return library
    return Lent(library, import_module("spaces").GPU(duration=seconds))


class Lent:
    """``gleanvid.pipeline`` as the engine uses it; ``gpu`` decorates a function."""

    def __init__(self, library: Any, gpu: Callable[[Any], Any]) -> None:
        self.library, self.MAX_SIDE, self.read_video = library, library.MAX_SIDE, library.read_video
        self._models: dict[str, Any] = {}
        self._clips: OrderedDict[tuple, Any] = OrderedDict()
        self._encode, self._score = gpu(self._encode_there), gpu(self._score_there)
        self._stream = gpu(self._stream_there)

    def load_model(self, name: str) -> Any:
        """The model itself; a process that has none of this name yet loads it."""
        if name not in self._models:
            self._models[name] = self.library.load_model(name)
        return SimpleNamespace(name=name, device=getattr(self._models[name], "device", "cpu"))

    def remembered(
        self, video: Video, model: Any, needs: frozenset[str] = frozenset(), max_pixels: Any = None
    ) -> Any | None:
        for (name, pixels, had), held in list(self._clips.items()):
            if held.video is video and (name, pixels) == (model.name, max_pixels) and needs <= had:
                return held
        return None

    def encode(
        self,
        video: Video,
        model: Any,
        needs: frozenset[str] = frozenset(),
        *,
        max_pixels: int | None = None,
        stop: threading.Event | None = None,
    ) -> tuple[Any, bool]:
        if held := self.remembered(video, model, needs, max_pixels):
            return held, True
        if stop is not None and stop.is_set():
            raise StoppedError
        tokens, encode_s = self._encode(video, model.name, needs, max_pixels)
        held = SimpleNamespace(video=video, tokens=tokens, encode_s=encode_s)
        self._clips[model.name, max_pixels, needs] = held
        while len(self._clips) > _KEPT_CLIPS:
            self._clips.popitem(last=False)
        return held, False

    def score(
        self, video: Video, question: str, answers: Any, model: Any, compressor: Any, **options: Any
    ) -> list[float]:
        options.pop("stop", None)
        return self._score(video, question, list(answers), model.name, compressor, options)

    def stream(
        self,
        video: Video,
        question: str,
        model: Any,
        compressor: Any,
        *,
        stop: threading.Event,
        **options: Any,
    ) -> Iterator[str | Run]:
        with closing(self._stream(video, question, model.name, compressor, options)) as pieces:
            for piece in pieces:
                if stop.is_set():
                    raise StoppedError
                yield replace(piece, video=video) if isinstance(piece, Run) else piece

    def _there(self, name: str) -> Any:
        self.load_model(name)
        return self._models[name]

    def _encode_there(
        self, video: Video, name: str, needs: frozenset[str], max_pixels: int | None
    ) -> tuple[VideoTokens, float]:
        encoded = self.library.encode(video, self._there(name), needs, max_pixels=max_pixels)[0]
        tokens = encoded.tokens
        parts = {field.name: getattr(tokens, field.name) for field in fields(tokens)}
        on_cpu = {
            name: part.cpu() for name, part in parts.items() if isinstance(part, torch.Tensor)
        }
        return replace(tokens, **on_cpu), encoded.encode_s

    def _score_there(
        self,
        video: Video,
        question: str,
        answers: list[str],
        name: str,
        compressor: Any,
        options: Any,
    ) -> list[float]:
        model = self._there(name)
        return self.library.score(video, question, answers, model, compressor, **options)

    def _stream_there(
        self, video: Video, question: str, name: str, compressor: Any, options: Any
    ) -> Iterator[str | Run]:
        stop, model = threading.Event(), self._there(name)
        yield from self.library.stream(video, question, model, compressor, stop=stop, **options)
