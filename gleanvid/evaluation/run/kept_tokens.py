"""Save the kept tokens of every video in a folder: one NPZ file per clip.

An NPZ file has the arrays of :func:`gleanvid.run.mask_arrays`, such as ``keep``, ``mask`` and
``budgets``. It also has the frames' timestamps, the seconds of each temporal unit and the place of
each token in the frame. It is written whole or not at all, before the clip's journal line.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np

from gleanvid.compressors.base import Compressor
from gleanvid.evaluation.files import whole_file
from gleanvid.evaluation.run.clips import read_clip
from gleanvid.evaluation.run.journal import ClipRow, Journal
from gleanvid.evaluation.run.progress import Progress, keep
from gleanvid.evaluation.run.setups import Setup
from gleanvid.metrics.saturation import saturation
from gleanvid.models.measure import now
from gleanvid.models.token_model import TokenModel
from gleanvid.run import mask_arrays
from gleanvid.video.reader import Backend

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
    model: TokenModel,
    clips: Mapping[str, Path],
    job: Job,
    folder: Path,
    journal: Journal,
    on_progress: Callable[[Progress], None] | None = None,
) -> None:
    """Compress the clips that have no result in ``folder`` yet.

    A clip that fails gets a journal row with an "error". Raises ``JournalError`` if a result cannot
    be written.
    """
    left = [
        (name, path)
        for name, path in clips.items()
        if not (journal.done((name, job.key)) and is_zipfile(folder / f"{name}.npz"))
    ]

    def rows() -> Iterator[ClipRow]:
        for name, path in left:
            row, arrays = compress_clip(job, model, name, path)
            if arrays:
                _write(folder / row["file"], arrays, journal)
            yield row

    keep(rows(), len(clips), len(left), journal, on_progress)


def compress_clip(
    job: Job, model: TokenModel, name: str, path: Path
) -> tuple[ClipRow, dict[str, np.ndarray]]:
    """Compress one clip; return its journal row and the arrays of its NPZ (none if it failed)."""
    row: ClipRow = {"item": name, "setup": job.key}
    try:
        if len(os.fsencode(Path(name).name)) > LONGEST_NAME:
            raise ValueError("the clip's name is too long for a file of results: rename the clip")
        seen = read_clip(path, job.num_frames, job.backend)
        encoded = model.encode(seen, job.method.needs, max_pixels=job.max_pixels)
        started = now(model.device)
        record = job.method.compress(encoded.tokens)
        compress_s = now(model.device) - started
        arrays = mask_arrays(record) | {"timestamps": seen.timestamps}
        placed = {
            "unit_seconds": encoded.tokens.seconds,
            "token_rectangles": encoded.tokens.rectangles,
        }
        arrays |= {key: at.cpu().numpy() for key, at in placed.items() if at is not None}
    except Exception as error:
        row["error"] = f"{type(error).__name__}: {error}"[:500]
        return row, {}
    row["file"] = f"{name}.npz"
    row["grid"] = list(record.grid)
    row["tokens"], row["kept"] = record.num_tokens, record.num_kept
    row["budgets"] = record.budgets.tolist()
    row["notes"] = list(seen.notes)
    if found := saturation(record):
        row["saturated"] = list(found)
    row["seconds"] = {"encode": round(encoded.encode_s, 4), "compress": round(compress_s, 4)}
    return row, arrays


def _write(path: Path, arrays: Mapping[str, np.ndarray], journal: Journal) -> None:
    try:
        with whole_file(path) as part, part.open("wb") as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    except OSError as error:
        raise journal.stopped_by(error, path) from error
