"""State that all pages of a server share: models, clips, runs, model queue. No Gradio code."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import torch
from cachetools import LRUCache

from gleanvid.attribution.relevance import Relevance
from gleanvid.compressors.base import Compressor
from gleanvid.cost import Cost
from gleanvid.models.encoded import ClipKey
from gleanvid.models.generation.sampling import Sampling
from gleanvid.run import Run, versions
from gleanvid.types import ModelError, StoppedError, Video

from .backend import Backend, EncodedClip, Question, Sampled
from .models import Models
from .pages import Pages
from .queue import DECODERS, READERS, READERS_FULL, ModelQueue, Queue, Work
from .recorded import PREFIX
from .store import RunStore

if TYPE_CHECKING:
    from torch import Tensor

CLIPS_REMEMBERED = 3
_ClipKey = tuple[str, int, int | Sampled]  # path of a file, modification time, frames to read


class Engine:
    """Runs the requests of all pages, and holds the models, clips and runs in memory.

    Args:
        backend: reads clips and runs models.
        runs: store of the runs; None: a new one.
        queue: queue in which requests wait for the model; None: a new one.
        decoders: maximum number of clips decoded at the same time.
        most_models: maximum number of models in memory.
    """

    def __init__(
        self,
        backend: Backend,
        runs: RunStore | None = None,
        queue: ModelQueue | None = None,
        decoders: int = DECODERS,
        most_models: int = 1,
    ) -> None:
        self.backend = backend
        self.models = Models(lambda name: self.backend.load_model(name), most_models)
        self.readers = Queue(decoders, READERS, READERS_FULL)
        self.runs = RunStore() if runs is None else runs
        self.queue = ModelQueue() if queue is None else queue
        self._lock = threading.Lock()
        self._clips: LRUCache[_ClipKey, Video] = LRUCache(CLIPS_REMEMBERED)
        self._decode_s: WeakKeyDictionary[Video, float] = WeakKeyDictionary()
        self.pages = Pages(self.queue)
        self.answer_s: dict[str, float] = {}  # model name -> seconds of its last answer

    def model(self, name: str) -> Any:
        """Return the named model, loaded if it is not in memory. Raises ``ModelError``."""
        return self.models.get(name)

    def put(self, name: str, model: Any) -> None:
        """Add a model that the caller has loaded, and make it the current one.

        A running answer still finishes with the model it began with.
        """
        self.models.put(name, model)

    def empty(self) -> None:
        """Unload all models to make room for another. Call it when first in the model queue."""
        self.models.empty()
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def holds(self, name: str) -> bool:
        """Whether the named model is in memory; takes no lock."""
        return name in self.models.held

    def knows(self, name: str) -> bool:
        """Whether the model was loaded since the server started, and so needs no download."""
        return name in self.models.seen

    @property
    def name(self) -> str | None:
        """Name of the model that was used last, if any; takes no lock."""
        return next(reversed(self.models.held), None)

    def weights_gb(self) -> float:
        """Size of the weights in memory, in 10^9 bytes."""
        models = [getattr(model, "hf_model", None) for model in list(self.models.held.values())]
        return sum(w.nbytes for model in models if model for w in model.parameters()) / 1e9

    def loaded(self) -> Any | None:
        """Return the model that was used last, or None; takes no lock."""
        return next(reversed(self.models.held.values()), None)

    def warm_up(self, name: str) -> None:
        """Load a model in the background. If this fails, the first request reports the error."""

        def load() -> None:
            with suppress(ModelError):
                self.model(name)

        threading.Thread(target=load, daemon=True).start()

    def clip(self, path: str, frames: int | Sampled, work: Work | None = None) -> Video:
        """Return the sampled frames of a file, cached. Call it before waiting in the model queue.

        Raises ``VideoError``, ``StoppedError``, and ``BusyError`` if too many clips wait.
        """
        work, key = work or Work(), _clip_key(path, frames)
        with self._lock:
            if key in self._clips:
                return self._clips[key]
        with self.readers.place(work):
            limit_s, began = self.queue.deadline_s, time.monotonic()
            video = self.backend.read_video(path, frames, limit_s, work.stop, work.count)
        with self._lock:
            self._clips[key] = video
            self._decode_s[video] = time.monotonic() - began
        return video

    def has_clip(self, path: str, frames: int | Sampled) -> bool:
        """Whether the sampled frames of a file are in memory."""
        return _clip_key(path, frames) in self._clips

    def encoded(self, clip: ClipKey) -> EncodedClip | None:
        """Return the encoded clip if the model has it in memory; does not use the model queue."""
        adapter = self.models.held.get(clip.model)
        return None if adapter is None else self.backend.remembered(clip, adapter)

    def encode(self, clip: ClipKey, work: Work) -> EncodedClip:
        """Return the clip encoded by the vision encoder, cached. Raises ``StoppedError``."""
        return self.backend.encode(clip, self.model(clip.model), work.stop)

    def compress(self, clip: ClipKey, encoded: EncodedClip, compressor: Compressor) -> Run:
        """Compress the tokens of a clip; return the result as a run without a question."""
        layer, stage = compressor.stages[0]
        record = stage.compress(encoded.tokens).to("cpu")
        return Run(
            video=clip.video,
            question="",
            model=clip.model,
            compressor=compressor.settings(),
            by_layer={layer: record},
            answer="",
            cost=Cost.tokens_only(record),
            seconds=_placed(encoded.tokens.seconds),
            rectangles=_placed(encoded.tokens.rectangles),
            made_with={"versions": versions(), "max_pixels": clip.max_pixels},
        )

    def answer(
        self, clip: ClipKey, question: str, compressor: Compressor, sampling: Sampling, work: Work
    ) -> Iterator[str | Run]:
        """Yield the growing text of an answer, then its run.

        Ending ``work`` ends the answer, or raises ``StoppedError`` if no token is generated yet.
        """
        asked = Question(clip, question, compressor, sampling)
        pieces = self.backend.stream_answer(asked, self.model(clip.model), work.stop)
        with closing(pieces):  # type: ignore[type-var]  # a generator; closing it frees the model
            for piece in pieces:
                if isinstance(piece, Run) and not clip.model.startswith(PREFIX):
                    piece = piece.with_decode_s(self._decode_s.get(clip.video, 0.0))
                yield piece

    def run(
        self, clip: ClipKey, question: str, compressor: Compressor, sampling: Sampling, work: Work
    ) -> Run:
        """Answer a question without streaming; return the run. Raises ``StoppedError``."""
        pieces = self.answer(clip, question, compressor, sampling, work)
        with closing(pieces):  # type: ignore[type-var]  # a generator; closing it frees the model
            run = next((item for item in pieces if isinstance(item, Run)), None)
        if run is None or work.stop.is_set():
            raise StoppedError
        return run

    def relevance(self, clip: ClipKey, question: str, answer: str, work: Work) -> Relevance:
        """Return each token's relevance for an answer. Raises ``ModelError``, ``StoppedError``."""
        model = self.model(clip.model)
        return self.backend.relevance(clip, question, answer, model, work.stop)


def decides_early(compressor: Compressor) -> bool:
    """Whether a compressor chooses tokens before the language model runs, without the question."""
    layer, stage = compressor.stages[0]
    return layer == 0 and "text" not in stage.needs


def _clip_key(path: str, frames: int | Sampled) -> _ClipKey:
    """Return the cache key of a clip, which changes when the file is replaced."""
    file = Path(path)
    return path, file.stat().st_mtime_ns if file.exists() else 0, frames


def _placed(geometry: Tensor | None) -> Tensor:
    if geometry is None:
        raise ValueError("the model gave its tokens no times or rectangles in the source video")
    return geometry.cpu()
