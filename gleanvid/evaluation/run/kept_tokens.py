"""Save the kept tokens of every video in a folder: one NPZ file per clip.

An NPZ file has the arrays of :func:`gleanvid.run.mask_arrays`, such as ``keep``, ``mask`` and
``budgets``. It also has the frames' timestamps, the seconds of each temporal unit and the place of
each token in the frame. It is written whole or not at all, before the clip's journal line.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np

from gleanvid.compressors.base import Compressor
from gleanvid.evaluation.files import whole_file
from gleanvid.evaluation.run.clips import read_clip
from gleanvid.evaluation.run.journal import ClipRow, Journal
from gleanvid.evaluation.run.progress import Progress, keep
from gleanvid.evaluation.run.ray_cluster import Load, on_workers
from gleanvid.evaluation.run.setups import Setup
from gleanvid.metrics.saturation import saturation
from gleanvid.models.base import ModelAdapter
from gleanvid.models.cost.measure import now
from gleanvid.run import mask_arrays
from gleanvid.types import Video
from gleanvid.video.reader import Backend

Arrays = dict[str, np.ndarray]
Clips = Mapping[str, Path]
LONGEST_NAME = 255 - len(".npz.part")  # in bytes; file systems allow 255 for the whole name


@dataclass(frozen=True)
class Job:
    """Settings of a run, the same for all clips.

    Raises ``ValueError`` if the method needs a question or acts inside the language model.
    """

    method: Compressor
    num_frames: int = 32
    backend: Backend = "pyav"
    max_pixels: int | None = None

    def __post_init__(self) -> None:
        if self.num_frames < 1:
            raise ValueError(f"num_frames={self.num_frames} must be at least 1")
        if [layer for layer, _ in self.method.stages] != [0] or "text" in self.method.needs:
            raise ValueError(
                f"compressor={self.method.name!r} decides while the model reads a question, and "
                "there is no question here: choose a method that acts before the language model"
            )

    @property
    def key(self) -> str:
        return Setup(self.method, self.num_frames).key

    def settings(self) -> dict[str, Any]:
        """Return all settings that affect the files. A journal with other settings is refused."""
        return {"setup": self.key, "backend": self.backend, "max_pixels": self.max_pixels}


def compress_clips(
    model: ModelAdapter,
    clips: Clips,
    job: Job,
    folder: Path,
    journal: Journal,
    on_progress: Callable[[Progress], None] | None = None,
) -> None:
    """Compress the clips that have no result in ``folder`` yet.

    A clip that fails gets a journal row with an "error". Raises ``JournalError`` if a result cannot
    be written.
    """

    def each() -> Iterator[tuple[ClipRow, Arrays]]:
        for part in left:
            try:
                seen: Video | Exception = _read(job, part)
            except Exception as error:
                seen = error
            yield compress_clip(job, model, part, seen)

    left = _left(clips, job, folder, journal)
    keep(_saved(each(), folder, journal), len(clips), len(left), journal, on_progress)


def compress_on_workers(
    load: Load,
    num_workers: int,
    num_gpus: float,
    clips: Clips,
    job: Job,
    folder: Path,
    journal: Journal,
    on_progress: Callable[[Progress], None] | None = None,
) -> None:
    """Do the same as :func:`compress_clips` on Ray workers.

    Call it inside the context manager ``ray_cluster.cluster``. Only this process writes files.
    Scores may differ in their last digits: a worker has fewer CPU threads, which changes the order
    of sums. Also raises ``ModelError`` if the workers cannot be kept alive.
    """
    left = _left(clips, job, folder, journal)
    read, work = partial(_read, job), partial(compress_clip, job)
    done = on_workers(load, num_workers, num_gpus, left, read, work)
    keep(_saved(done, folder, journal), len(clips), len(left), journal, on_progress)


def compress_clip(
    job: Job, model: ModelAdapter, part: tuple[str, Path], seen: Video | Exception
) -> tuple[ClipRow, Arrays]:
    """Compress one clip; return its journal row and the arrays of its NPZ (none if it failed).

    ``part``: name and path of the clip. ``seen``: its frames, or the error raised on reading them.
    """
    row: ClipRow = {"item": part[0], "setup": job.key}
    try:
        if isinstance(seen, Exception):
            raise seen
        if len(os.fsencode(Path(part[0]).name)) > LONGEST_NAME:
            raise ValueError("the clip's name is too long for a file of results: rename the clip")
        encoded = model.encode(seen, job.method.needs, max_pixels=job.max_pixels)
        started = now(model.device)
        record = job.method.compress(encoded.tokens)
        compress_s = now(model.device) - started
        arrays = mask_arrays(record) | {"timestamps": seen.timestamps}
        placed = {
            "unit_seconds": encoded.tokens.seconds,
            "token_rectangles": encoded.tokens.rectangles,
        }
        arrays |= {name: at.cpu().numpy() for name, at in placed.items() if at is not None}
    except Exception as error:
        row["error"] = f"{type(error).__name__}: {error}"[:500]
        return row, {}
    row["file"] = f"{part[0]}.npz"
    row["grid"] = list(record.grid)
    row["tokens"], row["kept"] = record.num_tokens, record.num_kept
    row["budgets"] = record.budgets.tolist()
    row["notes"] = list(seen.notes)
    if found := saturation(record):
        row["saturated"] = list(found)
    row["seconds"] = {"encode": round(encoded.encode_s, 4), "compress": round(compress_s, 4)}
    return row, arrays


def _left(clips: Clips, job: Job, folder: Path, journal: Journal) -> list[tuple[str, Path]]:
    """Return the clips without a finished row, or with a missing or incomplete NPZ file."""
    return [
        (name, path)
        for name, path in clips.items()
        if not (journal.done((name, job.key)) and is_zipfile(folder / f"{name}.npz"))
    ]


def _read(job: Job, part: tuple[str, Path]) -> Video:
    return read_clip(part[1], job.num_frames, job.backend)


def _saved(
    done: Iterable[tuple[ClipRow, Arrays]], folder: Path, journal: Journal
) -> Iterator[ClipRow]:
    """Yield each clip's journal row, once the clip's NPZ is written."""
    for row, arrays in done:
        if arrays:
            _write(folder / row["file"], arrays, journal)
        yield row


def _write(path: Path, arrays: Arrays, journal: Journal) -> None:
    try:
        with whole_file(path) as part, part.open("wb") as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    except OSError as error:
        raise journal.stopped_by(error, path) from error
