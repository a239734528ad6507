"""Load and run models on this machine, or ask models on a vLLM server."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from gleanvid.errors import MALFORMED
from gleanvid.models.loading.precision import PRECISIONS, split_precision
from gleanvid.serving.vllm import SCHEME

from .backend import Backend, EncodedClip, Progress, Question, Sampled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gleanvid.attribution.relevance import Relevance
    from gleanvid.models.encoded import ClipKey
    from gleanvid.run import Run
    from gleanvid.types import Video

BUILT_IN = "builtin"  # name of the library's built-in model
PHOTOS = "mobilenet_v2"  # the library's encoder for filmed clips; answers no questions
MOST_WORDS = 16  # maximum number of relevance maps for words of an answer: a backward pass each


def is_here(name: str) -> bool:
    """Whether all files of a model are on this machine, so that nothing is downloaded."""
    from gleanvid.models.loading.hub import cached

    plain, _ = split_precision(name)
    if plain in (BUILT_IN, PHOTOS) or name.startswith(SCHEME) or Path(plain).expanduser().is_dir():
        return True
    return cached(plain) is not None


def served(name: str) -> dict[str, Any] | None:
    """Return the compressor settings of the vLLM server ``name``; None if unknown or no server."""
    if not name.startswith(SCHEME):
        return None
    from gleanvid.serving.vllm.remote import settings_served

    try:
        return settings_served(name)
    except MALFORMED:  # the error is ignored here: loading the model will report it
        return None


class LocalBackend(Backend):
    """Runs models on this machine, and asks models on vLLM servers.

    ``gleanvid.api.pipeline`` is imported on first use: transformers takes seconds.

    Args:
        models: options of ``load_model`` by the name of the model.
        others: options for models that ``models`` does not name. The name of such a model may
            include a precision (``OWNER/NAME@4bit``).
    """

    def __init__(
        self, models: Mapping[str, Mapping[str, Any]], others: Mapping[str, Any] | None = None
    ) -> None:
        self._models, self._others = models, others or {}

    def load_model(self, name: str) -> Any:
        """Return the named model, without asking a hub if all its files are here.

        ``vllm:http://...`` names the model of a server. Raises ``ModelError``.
        """
        from gleanvid.api import pipeline
        from gleanvid.models.loading.hub import cached

        if name.startswith(SCHEME):
            from gleanvid.serving.vllm.remote import load_served

            return load_served(name, **self._models.get(name, self._others))
        plain, precision = split_precision(name)
        options = dict(self._models.get(name, {**self._others, **PRECISIONS[precision]}))
        if cached(plain) is not None:
            options["local_files_only"] = True
        model = pipeline.load_model(plain, **options)
        if name != plain:
            model.name = name
        return model

    def read_video(
        self, path: str, frames: int | Sampled, timeout_s: float, stop: Event, progress: Progress
    ) -> Video:
        from gleanvid.api.pipeline import MAX_SIDE, read_video

        count, start, end = Sampled(frames) if isinstance(frames, int) else frames
        how: Any = {"max_side": MAX_SIDE, "timeout_s": timeout_s, "stop": stop}
        how["progress"] = progress
        return read_video(path, count, start=start, end=end, **how)

    def remembered(self, clip: ClipKey, model: Any) -> EncodedClip | None:
        from gleanvid.api.pipeline import remembered

        return remembered(clip, model)

    def encode(self, clip: ClipKey, model: Any, stop: Event) -> EncodedClip:
        from gleanvid.api.pipeline import encode

        return encode(clip, model, stop)[0]

    def relevance(
        self, clip: ClipKey, question: str, answer: str, model: Any, stop: Event
    ) -> Relevance:
        from gleanvid.api.pipeline import encode
        from gleanvid.attribution.measure import check_model, measure

        check_model(model)
        encoded = encode(clip, model, stop)[0]
        words: Any = {"words": True, "most_words": MOST_WORDS}
        return measure(model, encoded, question.strip(), answer, **words, stop=stop)

    def stream_answer(self, question: Question, model: Any, stop: Event) -> Iterator[str | Run]:
        from gleanvid.api.pipeline import answer, follow

        asked: Any = question.clip, question.text, model, question.compressor, question.sampling
        return follow(partial(answer, *asked), stop)
