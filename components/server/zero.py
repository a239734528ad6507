"""ZeroGPU of Hugging Face Spaces: a GPU that is allocated while a decorated function runs.

The package ``spaces`` runs such a function in another process. Arguments and results are pickled,
so models are passed by name, results are on the CPU, and a stop takes effect between two pieces of
an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import fields, replace
from importlib import import_module
from importlib.util import find_spec
from threading import Event
from types import SimpleNamespace
from typing import Any

import torch
from cachetools import LRUCache

from gleanvid.attribution.relevance import Relevance
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run
from gleanvid.types import StoppedError, Video, VideoTokens

from ..session.work.backend import Backend, EncodedClip, Question, Sampled

SECONDS = 90
_KEPT_CLIPS = 4
_KEPT_MODELS = 8  # models of a Space, all loaded at its start


def on_zero_gpu(backend: Backend, seconds: int = SECONDS) -> Backend:
    """Wrap ``backend`` so that its models run on ZeroGPU, if ``spaces`` is installed."""
    if find_spec("spaces") is None:
        return backend
    return ZeroGpuBackend(backend, import_module("spaces").GPU(duration=seconds))


class ZeroGpuBackend(Backend):
    """Runs the methods of ``inner`` that need a model in the process that has the GPU.

    ``gpu``: the decorator of ``spaces`` for such functions.
    """

    is_metered = True

    def __init__(self, inner: Backend, gpu: Callable[[Any], Any]) -> None:
        self.inner = inner
        self._models: LRUCache[str, Any] = LRUCache(_KEPT_MODELS)
        self._clips: LRUCache[ClipKey, EncodedClip] = LRUCache(_KEPT_CLIPS)
        self._encode, self._score = gpu(self._remote_encode), gpu(self._remote_score)
        self._stream, self._relevance = gpu(self._remote_stream), gpu(self._remote_relevance)

    def load_model(self, name: str) -> Any:
        """Return what this process knows of the model: its name, device and limit of pixels."""
        model = self._model(name)
        facts = {fact: getattr(model, fact, None) for fact in ("device", "max_pixels")}
        return SimpleNamespace(name=name, **facts)

    def read_video(self, path: str, frames: int | Sampled, timeout_s: float, stop: Event) -> Video:
        return self.inner.read_video(path, frames, timeout_s, stop)

    def remembered(self, clip: ClipKey, model: Any) -> EncodedClip | None:
        clip = clip.bounded(model.max_pixels)
        found = (encoded for key, encoded in list(self._clips.items()) if key.serves(clip))
        return next(found, None)

    def encode(self, clip: ClipKey, model: Any, stop: Event) -> EncodedClip:
        if known := self.remembered(clip, model):
            return known
        if stop.is_set():
            raise StoppedError
        tokens, encode_s = self._encode(clip)
        encoded = SimpleNamespace(video=clip.video, tokens=tokens, encode_s=encode_s)
        self._clips[clip.bounded(model.max_pixels)] = encoded
        return encoded

    def score(self, question: Question, answer: str, model: Any, stop: Event) -> float:
        return self._score(question, answer)

    def relevance(
        self, clip: ClipKey, question: str, answer: str, model: Any, stop: Event
    ) -> Relevance:
        return self._relevance(clip, question, answer)

    def stream_answer(self, question: Question, model: Any, stop: Event) -> Iterator[str | Run]:
        with closing(self._stream(question)) as pieces:
            for piece in pieces:
                if stop.is_set():
                    raise StoppedError
                yield replace(piece, video=question.clip.video) if isinstance(piece, Run) else piece

    def _model(self, name: str) -> Any:
        """Return the model itself, loaded if this process does not have it."""
        if name not in self._models:
            self._models[name] = self.inner.load_model(name)
        return self._models[name]

    def _remote_encode(self, clip: ClipKey) -> tuple[VideoTokens, float]:
        encoded = self.inner.encode(clip, self._model(clip.model), Event())
        tokens = encoded.tokens
        parts = {field.name: getattr(tokens, field.name) for field in fields(tokens)}
        on_cpu: dict[str, Any] = {
            name: part.cpu() for name, part in parts.items() if isinstance(part, torch.Tensor)
        }
        return replace(tokens, **on_cpu), encoded.encode_s

    def _remote_score(self, question: Question, answer: str) -> float:
        return self.inner.score(question, answer, self._model(question.clip.model), Event())

    def _remote_relevance(self, clip: ClipKey, question: str, answer: str) -> Relevance:
        return self.inner.relevance(clip, question, answer, self._model(clip.model), Event())

    def _remote_stream(self, question: Question) -> Iterator[str | Run]:
        yield from self.inner.stream_answer(question, self._model(question.clip.model), Event())
