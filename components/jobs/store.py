"""The runs of all pages, kept in memory up to a limit. A page has only their ids."""

from __future__ import annotations

import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from gleanvid.attribution.relevance import Relevance
from gleanvid.errors import BusyError
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run
from gleanvid.types import VideoError

from .examples import Example
from .saved_relevance import saved

RUNS_MIB = 512
RUNS = 256  # maximum number of runs


class RunStore:
    """Runs by id; above a limit in bytes or number, the least recently used ones are dropped."""

    def __init__(self, limit_mib: float = RUNS_MIB, most: int = RUNS) -> None:
        self._limit, self._most = limit_mib * 2**20, most
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._paths: dict[str, str] = {}
        self._examples: dict[str, Example] = {}
        self._relevance: dict[str, Relevance] = {}
        self._saved: dict[str, tuple[Callable[[], Run], Example]] = {}
        self._lock = threading.Lock()

    def add(
        self, run: Run, path: str | None = None, example: Example | None = None, run_id: str = ""
    ) -> str:
        """Store a run and return its id, a random one if ``run_id`` is empty.

        ``path``: file of the run's clip. ``example``: the clip, if it is an example of the app.
        """
        run_id, size = run_id or secrets.token_urlsafe(16), _bytes_without_frames(run)
        with self._lock:
            self._runs[run_id], self._sizes[run_id] = run, size
            if path is not None:
                self._paths[run_id] = path
            if example is not None:
                self._examples[run_id] = example
            self._make_room()
        return run_id

    def add_relevance(self, run_id: str, found: Relevance) -> None:
        """Store how relevant each token is for a run's answer; ignored if the run is not stored."""
        with self._lock:
            if run_id in self._runs:
                self._relevance[run_id] = found
                self._make_room()

    def relevance(self, ids: Iterable[str], question: str) -> Relevance | None:
        """Return how relevant each token is for the answer to a question; None if unknown.

        It was measured for the answer of one of the runs ``ids``, or is saved with an example.
        """
        for run_id in ids:
            run, example = self._runs.get(run_id), self._examples.get(run_id)
            found = self._relevance.get(run_id)
            if found is None and run is not None and example is not None:
                found = saved(example, question, run)
            if found and found.question == question.strip():
                return found
        return None

    def _make_room(self) -> None:
        while len(self._runs) > self._most or (len(self._runs) > 1 and self.nbytes() > self._limit):
            gone = next(iter(self._runs))
            for held in (self._runs, self._sizes, self._paths, self._examples, self._relevance):
                held.pop(gone, None)

    def offer(self, saved: Mapping[str, Callable[[], Run]], example: Example) -> None:
        """Add saved runs of an example; ``saved`` has, by run id, a function that reads the run."""
        self._saved |= {run_id: (read, example) for run_id, read in saved.items()}

    def get(self, run_id: str | None) -> Run | None:
        """Return the run and mark it as recently used; None if there is no such run."""
        if run_id is None:
            return None
        with self._lock:
            if run_id in self._runs:
                self._runs.move_to_end(run_id)
                return self._runs[run_id]
        return self._read(run_id) if run_id in self._saved else None

    def _read(self, run_id: str) -> Run | None:
        """Read a saved run and store it; None if its clip cannot be read at the moment."""
        read, example = self._saved[run_id]
        with suppress(ValueError, VideoError, BusyError):
            run = read()
            self.add(run, str(example.path), example, run_id)
            return run
        return None

    def of_clip(self, clip: ClipKey, ids: Sequence[str]) -> dict[str, Run]:
        """Return the runs among ``ids`` with the same frames, model and pixel limit as ``clip``."""
        runs = {run_id: run for run_id in ids if (run := self.get(run_id))}
        return {
            run_id: run
            for run_id, run in runs.items()
            if run.model == clip.model
            and run.made_with.get("max_pixels") == clip.max_pixels
            and (run.video is clip.video or np.array_equal(run.video.frames, clip.video.frames))
        }

    def example(self, run_id: str) -> Example | None:
        """Return the example whose clip the run is about; None for an uploaded clip."""
        return self._examples.get(run_id)

    def path(self, run_id: str) -> str | None:
        """Return the file of the run's clip; None if it is not known or no longer exists."""
        path = self._paths.get(run_id)
        return path if path and Path(path).is_file() else None

    def nbytes(self) -> int:
        """Return the bytes that all runs take. Frames that several runs share count once."""
        frames = {id(run.video): run.video.frames.nbytes for run in self._runs.values()}
        maps = sum(4 * len(one.tokens) * (1 + len(one.words)) for one in self._relevance.values())
        return sum(frames.values()) + sum(self._sizes.values()) + maps

    def __len__(self) -> int:
        return len(self._runs)


def _bytes_without_frames(run: Run) -> int:
    """Return the bytes of a run's arrays, except the frames, and of its texts as JSON."""
    arrays = sum(array.nbytes for array in run.arrays().values())
    return arrays - run.video.frames.nbytes + len(json.dumps(run.summary()))
