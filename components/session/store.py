"""Runs by id, within a bound in bytes: pages remember ids, never runs."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from pathlib import Path

from gleanvid.run import Run

RUNS_MIB = 512
RUNS = 256  # each also takes some 100 KiB that its tensors do not tell


class RunStore:
    """Runs by id; beyond a limit, in bytes or in number, the least recently used go."""

    def __init__(self, limit_mib: float = RUNS_MIB, most: int = RUNS) -> None:
        self._limit, self._most = limit_mib * 2**20, most
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._paths: dict[str, str] = {}
        self._lock = threading.Lock()

    def add(self, run: Run, path: str | None = None) -> str:
        """The new id of a run, which nobody can guess. ``path``: the file of its clip."""
        run_id = secrets.token_urlsafe(16)
        with self._lock:
            self._runs[run_id] = run
            if path is not None:
                self._paths[run_id] = path
            while len(self._runs) > self._most or (
                len(self._runs) > 1 and self._bytes() > self._limit
            ):
                gone, _ = self._runs.popitem(last=False)
                self._paths.pop(gone, None)
        return run_id

    def get(self, run_id: str | None) -> Run | None:
        """The run, now the last to go; None where it is gone or never was."""
        with self._lock:
            if run_id is None or run_id not in self._runs:
                return None
            self._runs.move_to_end(run_id)
            return self._runs[run_id]

    def path(self, run_id: str) -> str | None:
        """The file of the run's clip; None where it is not known or no longer there."""
        path = self._paths.get(run_id)
        return path if path and Path(path).is_file() else None

    def __len__(self) -> int:
        return len(self._runs)

    def _bytes(self) -> int:
        """Frames count once for each video, however many runs share it."""
        videos = {id(run.video): run.video.frames.nbytes for run in self._runs.values()}
        return sum(videos.values()) + sum(_record_bytes(run) for run in self._runs.values())


def _record_bytes(run: Run) -> int:
    tensors = [
        tensor
        for record in run.by_layer.values()
        for tensor in (record.keep, record.group, record.weight, *record.scores.values())
    ]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
