"""Recordings on the page: clips whose model ran elsewhere. The engine takes them as they are.

The operator names one folder of recordings; nobody else adds to it, and nothing outside it is
opened. Wrap the engine's library::

    shelf = Shelf(folder)
    engine = Engine(WithRecordings(library, shelf))

and offer ``shelf.entries()``: the ``path`` of an entry is the clip of a request and its ``model``
the model. Masks, strips and curves of methods that choose from the clip alone are then computed on
the recorded tokens, ``Engine.compress`` and all; an answer is there where it was recorded
(:attr:`Entry.questions`, under the recorded settings), and elsewhere ``ModelError`` says that it is
not. :meth:`Shelf.runs` gives the recorded runs for ``RunStore.add``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from gleanvid.errors import ModelError
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run
from gleanvid.types import Video

from .backend import Library

PREFIX = "recording:"  # of the names that recordings go by as models
OPENED = 2  # recordings kept open


@dataclass(frozen=True)
class Entry:
    """What a menu says of a recording, read from its header alone."""

    path: str
    model: str  # its name as a model of the engine
    title: str
    recorded_with: str  # the model's own name
    questions: tuple[str, ...]
    licence: str  # of clip and weights, as given

    @property
    def label(self) -> str:
        """The row of the menu of models."""
        return f"{self.title}, recorded with {self.recorded_with}"


class Shelf:
    """The recordings of one folder, by the names of their files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.open = lru_cache(OPENED)(self._open)

    def entries(self) -> list[Entry]:
        """Those that are whole, by name; a damaged one is left out."""
        from gleanvid.evaluation.recording.file_format import is_recording
        from gleanvid.evaluation.recording.recording import read_facts

        found = []
        for path in sorted(self.folder.iterdir()):
            if not is_recording(path):
                continue
            try:
                if self.holds(path) and path.is_file():
                    found.append(_entry(path, read_facts(path)))
            except (ValueError, KeyError, TypeError, AttributeError, RuntimeError):
                continue  # the last: links in a circle
        return found

    def holds(self, path: str | Path) -> bool:
        """Whether a file lies in the folder itself, links followed."""
        return Path(path).resolve().parent == self.folder

    def runs(self, path: str) -> tuple[Run, ...]:
        """The answers that were recorded."""
        return self.open(path).runs

    def model(self, name: str) -> Any:
        """What stands for the model of the recording that is called ``name``."""
        from gleanvid.evaluation.recording.recorded_model import RecordedModel

        model = RecordedModel(dict(self.open(str(self.folder / name)).facts))
        model.name = PREFIX + name
        return model

    def _open(self, path: str) -> Any:
        """Raises ``ModelError``: for a file outside the folder, and one that is no recording."""
        from gleanvid.evaluation.recording.recording import open_recording

        if not self.holds(path):
            raise ModelError("Recordings come from the folder of whoever runs this page.")
        try:
            return open_recording(path)
        except ValueError as error:
            raise ModelError(str(error)) from error


class WithRecordings:
    """A library that also knows the recordings of a :class:`Shelf`."""

    def __init__(self, library: Library, shelf: Shelf) -> None:
        self._library, self._shelf = library, shelf

    def load_model(self, name: str) -> Any:
        """The named model, or what stands for a recording's. Raises ``ModelError``."""
        if name.startswith(PREFIX):
            return self._shelf.model(name.removeprefix(PREFIX))
        return self._library.load_model(name)

    def read_video(self, path: str, num_frames: int, **options: Any) -> Video:
        """A recording has its frames, however many are asked for."""
        if self._is_recording(path):
            return self._shelf.open(path).video
        return self._library.read_video(path, num_frames, **options)

    def stream_answer(
        self, clip: ClipKey, question: str, model: Any, compressor: Any, *rest: Any, **options: Any
    ) -> Iterator[str | Run]:
        """The recorded answer, or ``ModelError``."""
        if not clip.model.startswith(PREFIX):
            yield from self._library.stream_answer(
                clip, question, model, compressor, *rest, **options
            )
            return
        run = self._answered(clip, question, compressor)
        yield run.answer
        yield run

    def score(
        self,
        clip: ClipKey,
        question: str,
        answers: Sequence[str],
        model: Any,
        compressor: Any,
        **options: Any,
    ) -> list[float]:
        """Of answers that were recorded under ``compressor``, or ``ModelError``."""
        if not clip.model.startswith(PREFIX):
            return self._library.score(clip, question, answers, model, compressor, **options)
        run, recording = self._answered(clip, question, compressor), self._recording(clip)
        if list(answers) != [run.answer]:
            raise ModelError("This answer was not scored when the clip was recorded.")
        return [recording.log_probability[recording.runs.index(run)]]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)

    def _answered(self, clip: ClipKey, question: str, compressor: Any) -> Run:
        from gleanvid.evaluation.recording.recorded_model import NOTHING_NEW

        run = self._recording(clip).answered(question, compressor.settings())
        if run is None:
            raise ModelError(NOTHING_NEW)
        return run

    def _recording(self, clip: ClipKey) -> Any:
        return self._shelf.open(str(self._shelf.folder / clip.model.removeprefix(PREFIX)))

    @staticmethod
    def _is_recording(path: str) -> bool:
        from gleanvid.evaluation.recording.file_format import is_recording

        return is_recording(path)


def _entry(path: Path, facts: dict[str, Any]) -> Entry:
    from gleanvid.evaluation.recording.file_format import SUFFIX

    questions = dict.fromkeys(str(run["question"]) for run in facts["runs"])
    licence = ", ".join(f"{part}: {said}" for part, said in facts["licence"].items() if said)
    title, model = path.name.removesuffix(SUFFIX), str(facts["model"]["model"])
    return Entry(str(path), PREFIX + path.name, title, model, tuple(questions), licence)
