"""ZeroGPU of Hugging Face Spaces: a GPU for the length of a function, which runs elsewhere.

The package ``spaces`` runs such a function in another process. Arguments and results are pickled,
so models are passed by name, results lie on the CPU, and a stop takes effect between two pieces of
an answer. Without that package nothing here is used.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import fields, replace
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import torch
from cachetools import LRUCache

from gleanvid.compressors.base import Compressor
from gleanvid.models.encoded import ClipKey, History
from gleanvid.models.generation.sampling import Sampling
from gleanvid.run import Run
from gleanvid.types import StoppedError, VideoTokens

from ..session.work.backend import EncodedClip, Library

SECONDS = 90
_KEPT_CLIPS = 4
_KEPT_MODELS = 8  # those that a Space offers: it loads all of them at its start


def on_zero_gpu(library: Library, seconds: int = SECONDS) -> Library:
    """``library``, its model on ZeroGPU where ``spaces`` is installed."""
    if find_spec("spaces") is None:
        return library
    return ZeroGpuLibrary(library, import_module("spaces").GPU(duration=seconds))


class ZeroGpuLibrary:
    """``gleanvid.pipeline`` as the engine uses it; ``gpu`` decorates what needs the model."""

    def __init__(self, library: Library, gpu: Callable[[Any], Any]) -> None:
        self.library, self.MAX_SIDE, self.read_video = library, library.MAX_SIDE, library.read_video
        self._models: LRUCache[str, Any] = LRUCache(_KEPT_MODELS)
        self._clips: LRUCache[ClipKey, EncodedClip] = LRUCache(_KEPT_CLIPS)
        self._encode, self._score = gpu(self._remote_encode), gpu(self._remote_score)
        self._stream = gpu(self._remote_stream)

    def load_model(self, name: str) -> Any:
        """The model itself; a process that has none of this name yet loads it."""
        if name not in self._models:
            self._models[name] = self.library.load_model(name)
        model = self._models[name]
        facts = {fact: getattr(model, fact, None) for fact in ("device", "max_pixels")}
        return SimpleNamespace(name=name, **facts)

    def remembered(self, clip: ClipKey, model: Any) -> EncodedClip | None:
        clip = clip.bounded(model.max_pixels)
        found = (encoded for key, encoded in list(self._clips.items()) if key.serves(clip))
        return next(found, None)

    def encode(
        self, clip: ClipKey, model: Any, stop: threading.Event | None = None
    ) -> tuple[EncodedClip, bool]:
        if known := self.remembered(clip, model):
            return known, True
        if stop is not None and stop.is_set():
            raise StoppedError
        tokens, encode_s = self._encode(clip)
        encoded = SimpleNamespace(video=clip.video, tokens=tokens, encode_s=encode_s)
        self._clips[clip.bounded(model.max_pixels)] = encoded
        return encoded, False

    def score(
        self,
        clip: ClipKey,
        question: str,
        answers: Sequence[str],
        model: Any,
        compressor: Compressor,
        *,
        stop: threading.Event | None = None,
    ) -> list[float]:
        return self._score(clip, question, list(answers), compressor)

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
        with closing(self._stream(clip, question, compressor, sampling, history)) as pieces:
            for piece in pieces:
                if stop is not None and stop.is_set():
                    raise StoppedError
                yield replace(piece, video=clip.video) if isinstance(piece, Run) else piece

    def _model(self, name: str) -> Any:
        self.load_model(name)
        return self._models[name]

    def _remote_encode(self, clip: ClipKey) -> tuple[VideoTokens, float]:
        encoded = self.library.encode(clip, self._model(clip.model))[0]
        tokens = encoded.tokens
        parts = {field.name: getattr(tokens, field.name) for field in fields(tokens)}
        on_cpu: dict[str, Any] = {
            name: part.cpu() for name, part in parts.items() if isinstance(part, torch.Tensor)
        }
        return replace(tokens, **on_cpu), encoded.encode_s

    def _remote_score(
        self, clip: ClipKey, question: str, answers: Sequence[str], compressor: Compressor
    ) -> list[float]:
        return self.library.score(clip, question, answers, self._model(clip.model), compressor)

    def _remote_stream(
        self,
        clip: ClipKey,
        question: str,
        compressor: Compressor,
        sampling: Sampling,
        history: History,
    ) -> Iterator[str | Run]:
        model = self._model(clip.model)
        yield from self.library.stream_answer(
            clip, question, model, compressor, sampling, history=history
        )
