"""Export runs as files: images, tables, masks, a video with overlays, and the run itself.

Each function writes one kind into ``folder``, one of its own under Gradio's cache. ``timed`` wraps
its loop and checks the time limit.
"""

from __future__ import annotations

import io
import json
import math
import re
import secrets
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from gradio.utils import get_upload_folder
from PIL import Image

from gleanvid.errors import StoppedError
from gleanvid.evaluation.files import csv_text, finite
from gleanvid.metrics import budget_gini, diagnostics_of
from gleanvid.plots import contact_sheet, side_by_side
from gleanvid.plots.labels import heading, label_of, labels
from gleanvid.plots.overlay import frames_per_unit
from gleanvid.run import Run, mask_arrays
from gleanvid.video.isolation.bounds import PARTS

from ..viewer.folder import trim

EXPORT_BYTES = 2**30  # maximum size of all exported files; above it the oldest are deleted
# Maximum size of one visitor's files, so that one visitor cannot use up the space of all.
VISITOR_BYTES = EXPORT_BYTES // 4
_KEY = secrets.token_bytes(16)  # hash key; folder names made with it hide visitors' addresses
LATE = "Stopped after {limit:g} seconds, the limit for files on this server. Choose fewer frames."
Timed = Callable[[Iterable[Any]], Iterable[Any]]  # raises StoppedError at the time limit
Maker = Callable[..., Path]  # (runs, folder, timed)


def make(
    kind: str, runs: Sequence[Run], limit_s: float = math.inf, visitor: str = "", **options: Any
) -> str:
    """Write the viewer's runs as a file of the given ``kind``; return its path.

    ``kind``: a key of ``KINDS``. ``visitor``: IP address or network of the user, whose files have a
    size limit. ``options``: further arguments of the function that writes the file. Raises
    ``StoppedError`` if writing takes longer than ``limit_s`` seconds.
    """
    end = time.monotonic() + limit_s

    def timed(parts: Iterable[Any]) -> Iterator[Any]:
        for part in parts:
            if time.monotonic() > end:
                raise StoppedError(LATE.format(limit=limit_s))
            yield part

    return str(KINDS[kind][1](runs, new_folder(visitor), timed, **options))


def new_folder(visitor: str = "") -> Path:
    """Create a folder for exported files.

    Deletes the oldest exports of this visitor until the rest fits ``VISITOR_BYTES``. Then deletes
    the oldest of all visitors until the rest fits ``EXPORT_BYTES``.
    """
    own = blake2b(visitor.encode(), key=_KEY, digest_size=8).hexdigest()
    folder = Path(get_upload_folder()) / "exports" / f"{own}-{secrets.token_hex(8)}"
    folder.mkdir(parents=True)
    trim(folder.parent, VISITOR_BYTES, f"{own}-")
    trim(folder.parent, EXPORT_BYTES)
    return folder


def file_name(run: Run, part: str) -> str:
    """Return the name of a file of a run: its clip, its label, and what the file holds.

    ``fileName`` in ``assets/viewer/dom.js`` returns the same name.
    """
    words = [Path(run.video.name).stem[:60], label_of(run.compressor)[:80].lower(), part]
    words = [re.sub(r"[^\w.]+", "-", word.replace(" %", "pct")).strip("-.") for word in words]
    return "-".join(filter(None, words))


def sheet(runs: Sequence[Run], folder: Path, timed: Timed = iter) -> Path:
    path = folder / file_name(runs[0], "contact-sheet.png")
    Image.fromarray(contact_sheet(runs[0], progress=timed)).save(path)
    return path


def labelled(runs: Sequence[Run], timed: Timed) -> Iterable[tuple[Run, str]]:
    return timed(zip(runs, labels(list(runs)), strict=True))


def units_csv(runs: Sequence[Run], folder: Path, timed: Timed = iter) -> Path:
    """Write a CSV file with one line for every run and temporal unit."""
    path = folder / file_name(runs[0], "units.csv")
    rows = [row for run, label in labelled(runs, timed) for row in unit_rows(run, label)]
    path.write_text(csv_text(list(rows[0]), rows), encoding="utf-8")
    return path


MEASURED = {  # column of the CSV file -> field of Diagnostics
    "effective_rank_of_unit": "effective_rank_by_unit",
    "effective_rank_so_far": "effective_rank_so_far",
    "residual_energy": "residual_energy_by_unit",
    "basis_rank": "basis_rank",
}


def unit_rows(run: Run, label: str) -> list[dict[str, str | float]]:
    record, diagnostics = run.compression, diagnostics_of(run)
    measured = {name: getattr(diagnostics, field, None) for name, field in MEASURED.items()}
    measured["novelty"] = record.trace.get("novelty")
    rows: list[dict[str, str | float]] = []
    for unit, kept in enumerate(record.budgets.tolist()):
        start, end = run.seconds[unit].tolist()
        rows.append(
            {
                "run": label,
                "unit": unit + 1,
                "start_s": round(start, 4),
                "end_s": round(end, 4),
                "tokens_kept": kept,
                "uniform_budget": record.num_kept / record.grid[0],
            }
            | {name: "" if all_ is None else float(all_[unit]) for name, all_ in measured.items()}
        )
    return rows


def metrics_json(runs: Sequence[Run], folder: Path, timed: Timed = iter) -> Path:
    """Write the settings, answer, cost and diagnostics of every run."""
    entries = []
    for run, label in labelled(runs, timed):
        diagnostics = diagnostics_of(run)
        entry = {"label": label} | run.summary() | {"budget_gini": budget_gini(run.compression)}
        entries.append(entry | {"diagnostics": diagnostics.summary() if diagnostics else None})
    path = folder / file_name(runs[0], "metrics.json")
    path.write_text(json.dumps(finite(entries), indent=2, ensure_ascii=False) + "\n", "utf-8")
    return path


def masks_npz(runs: Sequence[Run], folder: Path, timed: Timed = iter) -> Path:
    """Write masks, indices of kept tokens, merge groups, budgets and scores of all runs."""
    arrays: dict[str, Any] = {
        "timestamps": runs[0].video.timestamps,
        "unit_seconds": runs[0].seconds.numpy(),
        "token_rectangles": runs[0].rectangles.numpy(),
    }
    for run, label in labelled(runs, timed):
        own = mask_arrays(run.compression)
        arrays |= {f"{label}/{name}": values for name, values in own.items()}
    path = folder / file_name(runs[0], "masks.npz")
    np.savez_compressed(path, **arrays)
    return path


def overlay_clip(runs: Sequence[Run], folder: Path, timed: Timed = iter) -> Path:
    """Write a video (H.264) of A and B side by side."""
    import av

    video, sides = runs[0].video, runs[:2][::-1]  # ``runs`` begins with B, then A
    rate = Fraction(max(1.0, len(video) / max(video.duration, 0.1))).limit_denominator(1001)
    path = folder / file_name(runs[0], "overlay.mp4")
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=rate)
        for place in timed(range(len(video))):
            drawn = side_by_side(sides, *divmod(place, frames_per_unit(runs[0])))
            height, width = (side - side % 2 for side in drawn.shape[:2])
            if not place:
                stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
            frame = av.VideoFrame.from_ndarray(drawn[:height, :width], format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def paper_figure(
    runs: Sequence[Run],
    folder: Path,
    timed: Timed = iter,
    ending: str = "pdf",
    units: Sequence[int] | None = None,
) -> Path:
    """Draw a figure for a paper: masks of some units (None: six), and curves below them."""
    from gleanvid.plots.paper import composed

    figure = composed(list(runs), units, heading(runs[0]), timed)
    return _saved(figure, folder / file_name(runs[0], f"figure.{ending}"), timed)


def curves_file(
    runs: Sequence[Run], folder: Path, timed: Timed = iter, ending: str = "svg", curve: str = ""
) -> Path:
    """Draw ``curve`` of ``paper.CURVES`` ("": all) over time, as a file with this ``ending``."""
    from gleanvid.plots.paper import CURVES, curves

    figure = curves(list(runs), [curve] if curve else tuple(CURVES))
    return _saved(figure, folder / file_name(runs[0], f"{curve or 'curves'}.{ending}"), timed)


def _saved(figure: Any, path: Path, timed: Timed) -> Path:
    from gleanvid.plots.paper.layout import paper_style

    with paper_style(), TimedFile(path, timed) as file:
        figure.savefig(file, format=path.suffix[1:], dpi=300)
    return path


class TimedFile(io.BufferedWriter):
    """A file whose ``write`` checks the time limit; ``savefig`` writes it in many small parts."""

    def __init__(self, path: Path, timed: Timed) -> None:
        super().__init__(io.FileIO(path, "w"))
        self._timed = timed

    def write(self, part: Any) -> int:
        return sum(super(TimedFile, self).write(each) for each in self._timed((part,)))


def saved_run(runs: Sequence[Run], folder: Path, timed: Timed = iter) -> Path:
    """Write the first of ``runs`` with all its data to a ZIP file, for :func:`opening.opened`."""
    path = folder / file_name(runs[0], "run.zip")
    with TemporaryDirectory() as place, zipfile.ZipFile(path, "w") as archive:
        runs[0].save(place)
        for name in timed(PARTS):
            archive.write(Path(place) / name, name)
    return path


KINDS: dict[str, tuple[str, Maker]] = {
    "sheet": ("Contact sheet of run B (PNG)", sheet),
    "clip": ("Runs A and B side by side (MP4)", overlay_clip),
    "curves": ("Curves (SVG)", curves_file),
    "curves_png": ("Curves (PNG)", partial(curves_file, ending="png")),
    "pdf": ("Figure (PDF)", paper_figure),
    "svg": ("Figure (SVG)", partial(paper_figure, ending="svg")),
    "csv": ("Metrics per temporal unit (CSV)", units_csv),
    "json": ("Metrics (JSON)", metrics_json),
    "npz": ("Masks (NPZ)", masks_npz),
    "run": ("Complete run B (ZIP)", saved_run),
}
