"""Recordings: clips that a model on another machine encoded and answered questions about.

A request names a recording by the ``model`` and ``path`` of its :class:`Entry`, as model and clip.
Compressors that need only the clip run on the recorded tokens. Answers are those that were
recorded. For any other question or setting, ``ModelError`` says that the model is not on this
machine. Only recordings in the operator's one folder are opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from gleanvid.errors import MALFORMED, ModelError
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run
from gleanvid.types import Video

from .backend import Backend, EncodedClip, Progress, Question, Sampled

if TYPE_CHECKING:
    from gleanvid.attribution.relevance import Relevance

PREFIX = "recording:"  # prefix of the model names of recordings
OPENED = 2  # maximum number of recordings that stay open
NOT_MEASURED = (
    "The recording has no token relevance for this answer: `gleanvid record --relevance` adds it."
)


@dataclass(frozen=True)
class Entry:
    """A recording in the menu of models, read from the header of its file."""

    path: str
    model: str  # name under which the engine loads the recording as a model
    title: str
    recorded_with: str  # name of the model that answered when the clip was recorded
    questions: tuple[str, ...]
    licence: str  # licences of clip and weights

    @property
    def label(self) -> str:
        return f"{self.title}, recorded with {self.recorded_with}"


class Shelf:
    """The recordings in one folder of the server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.open = lru_cache(OPENED)(self._open)

    def entries(self) -> list[Entry]:
        """List the recordings by name, without damaged ones."""
        from gleanvid.evaluation.recording.file_format import is_recording
        from gleanvid.evaluation.recording.recording import read_facts

        found = []
        for path in sorted(self.folder.iterdir()):
            if not is_recording(path):
                continue
            try:
                if self.holds(path) and path.is_file():
                    found.append(_entry(path, read_facts(path)))
            except MALFORMED:
                continue  # a damaged file, or symbolic links in a circle (RuntimeError)
        return found

    def holds(self, path: str | Path) -> bool:
        """Whether a file, after symbolic links are resolved, lies directly in the folder."""
        return Path(path).resolve().parent == self.folder

    def model(self, name: str) -> Any:
        """Return a model that stands for the one recorded in the file ``name``."""
        from gleanvid.evaluation.recording.recorded_model import RecordedModel

        model = RecordedModel(dict(self.open(str(self.folder / name)).facts))
        model.name = PREFIX + name
        return model

    def _open(self, path: str) -> Any:
        """Open a recording. Raises ``ModelError`` for any other file or folder."""
        from gleanvid.evaluation.recording.recording import open_recording

        if not self.holds(path):
            raise ModelError(
                "Recordings can be opened only from the server's own folder of recordings."
            )
        try:
            return open_recording(path)
        except ValueError as error:
            raise ModelError(str(error)) from error


class RecordedBackend(Backend):
    """Answers requests about recordings from their files; passes all others to ``inner``."""

    def __init__(self, inner: Backend, shelf: Shelf) -> None:
        self.inner, self.shelf = inner, shelf

    def load_model(self, name: str) -> Any:
        if name.startswith(PREFIX):
            return self.shelf.model(name.removeprefix(PREFIX))
        return self.inner.load_model(name)

    def read_video(
        self, path: str, frames: int | Sampled, timeout_s: float, stop: Event, progress: Progress
    ) -> Video:
        """Return the frames of a recording (``frames`` is ignored) or of a video file."""
        from gleanvid.evaluation.recording.file_format import is_recording

        if is_recording(path):
            return self.shelf.open(path).video
        return self.inner.read_video(path, frames, timeout_s, stop, progress)

    def remembered(self, clip: ClipKey, model: Any) -> EncodedClip | None:
        return self.inner.remembered(clip, model)

    def encode(self, clip: ClipKey, model: Any, stop: Event) -> EncodedClip:
        return self.inner.encode(clip, model, stop)

    def relevance(
        self, clip: ClipKey, question: str, answer: str, model: Any, stop: Event
    ) -> Relevance:
        if not clip.model.startswith(PREFIX):
            return self.inner.relevance(clip, question, answer, model, stop)
        for found in self._recording(clip).relevance:
            if (found.question, found.answer) == (question.strip(), answer):
                return found
        raise ModelError(NOT_MEASURED)

    def stream_answer(self, question: Question, model: Any, stop: Event) -> Iterator[str | Run]:
        """Yield the recorded answer. Raises ``ModelError`` for questions that were not recorded."""
        if not question.clip.model.startswith(PREFIX):
            yield from self.inner.stream_answer(question, model, stop)
            return
        run = self._answered(question)
        yield run.answer
        yield run

    def _answered(self, question: Question) -> Run:
        from gleanvid.evaluation.recording.recorded_model import NOTHING_NEW

        settings = question.compressor.settings()
        run = self._recording(question.clip).answered(question.text, settings)
        if run is None:
            raise ModelError(NOTHING_NEW)
        return run

    def _recording(self, clip: ClipKey) -> Any:
        return self.shelf.open(str(self.shelf.folder / clip.model.removeprefix(PREFIX)))


def _entry(path: Path, facts: dict[str, Any]) -> Entry:
    from gleanvid.evaluation.recording.file_format import SUFFIX

    questions = dict.fromkeys(str(run["question"]) for run in facts["runs"])
    licence = ", ".join(f"{part}: {said}" for part, said in facts["licence"].items() if said)
    title, model = path.name.removesuffix(SUFFIX), str(facts["model"]["model"])
    return Entry(str(path), PREFIX + path.name, title, model, tuple(questions), licence)
