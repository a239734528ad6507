"""ZeroGPU of Hugging Face Spaces: a GPU that is allocated while a decorated function runs.

The package ``spaces`` runs such a function in a forked process. Arguments and results are pickled,
so models are passed by name and results are on the CPU. The function stops once a temporary file,
which stands for the stop flag, is deleted.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import fields, replace
from importlib import import_module
from importlib.util import find_spec
from tempfile import mkstemp
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import torch
from cachetools import LRUCache

from gleanvid.attribution.relevance import Relevance
from gleanvid.errors import sentence
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run
from gleanvid.types import StoppedError, Video, VideoTokens

from ..jobs.backend import Backend, EncodedClip, Progress, Question, Sampled

SECONDS = 90
POLL_S = 0.1
_KEPT_CLIPS = 4
_KEPT_MODELS = 8  # maximum number of models of a Space, which loads them all at its start


def on_zero_gpu(backend: Backend, seconds: int = SECONDS) -> Backend:
    """Run the models of ``backend`` on ZeroGPU, up to ``seconds`` a call, if that is installed."""
    if find_spec("spaces") is None:
        return backend
    return ZeroGpuBackend(backend, import_module("spaces").GPU(duration=seconds))


class ZeroGpuBackend(Backend):
    """Uses a forked process with the GPU for the methods of ``inner`` that need a model.

    ``gpu``: decorator of ``spaces`` that runs a function in such a process.
    """

    def __init__(self, inner: Backend, gpu: Callable[[Any], Any]) -> None:
        self.inner = inner
        self._models: LRUCache[str, Any] = LRUCache(_KEPT_MODELS)
        self._clips: LRUCache[ClipKey, EncodedClip] = LRUCache(_KEPT_CLIPS)
        self._gpu = gpu(self._remote)

    def load_model(self, name: str) -> Any:
        """Return a stand-in for the model, with its name, device and pixel limit."""
        model = self._model(name)
        facts = {fact: getattr(model, fact, None) for fact in ("device", "max_pixels")}
        return SimpleNamespace(name=name, **facts)

    def read_video(
        self, path: str, frames: int | Sampled, timeout_s: float, stop: Event, progress: Progress
    ) -> Video:
        return self.inner.read_video(path, frames, timeout_s, stop, progress)

    def remembered(self, clip: ClipKey, model: Any) -> EncodedClip | None:
        clip = clip.bounded(model.max_pixels)
        found = (encoded for key, encoded in list(self._clips.items()) if key.serves(clip))
        return next(found, None)

    def encode(self, clip: ClipKey, model: Any, stop: Event) -> EncodedClip:
        if known := self.remembered(clip, model):
            return known
        [(tokens, encode_s)] = self._on_gpu("encode", model, stop, clip)
        encoded = SimpleNamespace(video=clip.video, tokens=tokens, encode_s=encode_s)
        self._clips[clip.bounded(model.max_pixels)] = encoded
        return encoded

    def relevance(
        self, clip: ClipKey, question: str, answer: str, model: Any, stop: Event
    ) -> Relevance:
        [found] = self._on_gpu("relevance", model, stop, clip, question, answer)
        return found

    def stream_answer(self, question: Question, model: Any, stop: Event) -> Iterator[str | Run]:
        with closing(self._on_gpu("stream_answer", model, stop, question)) as pieces:
            for piece in pieces:
                yield replace(piece, video=question.clip.video) if isinstance(piece, Run) else piece

    def _on_gpu(
        self, method: str, model: Any, stop: Event, *given: Any
    ) -> Generator[Any, None, None]:
        """Run a method of ``inner`` in the process with the GPU, and yield its results."""
        if stop.is_set():
            raise StoppedError
        descriptor, wanted = mkstemp(prefix="gleanvid-running-")
        os.close(descriptor)
        # On exit, `_deleted_once` deletes the file to stop the method; then `closing` waits for it.
        with (
            closing(self._gpu(method, model.name, wanted, *given)) as pieces,
            _deleted_once(stop, wanted),
        ):
            for piece in pieces:
                if isinstance(piece, Exception):
                    raise piece
                yield piece

    def _remote(
        self, method: str, name: str, wanted: str, *given: Any
    ) -> Generator[Any, None, None]:
        """Run a method of ``inner`` in the process with the GPU.

        Errors with a message for the user are yielded: ``spaces`` drops the message of raised ones.
        """
        try:
            found = getattr(self.inner, method)(*given, self._model(name), FileGone(wanted))
            if method == "stream_answer":
                yield from found
            else:
                yield _on_cpu(found) if method == "encode" else found
        except Exception as error:
            if not (isinstance(error, StoppedError) or sentence(error)):
                raise
            yield error

    def _model(self, name: str) -> Any:
        """Return the model called ``name``; load it if this process does not have it."""
        if name not in self._models:
            self._models[name] = self.inner.load_model(name)
        return self._models[name]


class FileGone(Event):
    """A stop flag shared with another process: set once the file at ``path`` is gone."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def is_set(self) -> bool:
        return super().is_set() or not os.path.exists(self._path)

    def wait(self, timeout: float | None = None) -> bool:
        end = time.monotonic() + (math.inf if timeout is None else timeout)
        while not self.is_set() and time.monotonic() < end:
            time.sleep(POLL_S)
        return self.is_set()


@contextmanager
def _deleted_once(stop: Event, path: str) -> Iterator[None]:
    """Delete a file as soon as ``stop`` is set or the block is left."""
    left = Event()

    def watch() -> None:
        while not (left.wait(POLL_S) or stop.is_set()):
            continue
        os.unlink(path)

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        left.set()
        watcher.join()


def _on_cpu(encoded: EncodedClip) -> tuple[VideoTokens, float]:
    tokens = encoded.tokens
    parts = {field.name: getattr(tokens, field.name) for field in fields(tokens)}
    on_cpu: dict[str, Any] = {
        name: part.cpu() for name, part in parts.items() if isinstance(part, torch.Tensor)
    }
    return replace(tokens, **on_cpu), encoded.encode_s
