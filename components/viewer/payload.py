"""The content of the viewer for some runs: a small JSON value and two files.

One file is a JPEG sheet of all frames, the other has the arrays of :mod:`.arrays`. The browser
fetches them once, so stepping through the clip needs no request. ``assets/viewer`` reads them.
"""

from __future__ import annotations

import hashlib
import io
import math
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from gradio.utils import get_upload_folder
from PIL import Image

from gleanvid.attribution.relevance import Relevance
from gleanvid.plots.labels import labels
from gleanvid.run import Run
from gleanvid.types import Video, VideoTokens

from ..places import as_served
from .arrays import Arena, pack_relevance, pack_run, rounded
from .features import clip_features
from .folder import trim
from .truth import truth
from .values import Clip, File, Geometry, Method, Tiles

MAX_METHODS = 28  # maximum number of runs in a viewer: one per built-in compressor, and two more
SHEET_PIXELS = 8_000_000  # phones show no images above 16 million pixels
TILE_SIDE = 720
FOLDER_BYTES = 2**30  # maximum size of all viewer files; above it the oldest are deleted

_KEY = secrets.token_bytes(16)  # hash key; without it nobody can compute a file name from a clip
_sheets: WeakKeyDictionary[Video, tuple[bytes, Tiles]] = WeakKeyDictionary()


class Packed(NamedTuple):
    """The content of a viewer before its two files are written.

    ``value``: JSON without the addresses of the files. ``sheet``: content of the JPEG file with all
    frames. ``data``: content of the binary file.
    """

    value: Clip
    sheet: bytes
    data: bytes


def payload(
    runs: Sequence[Run],
    a: int = 0,
    b: int | None = None,
    tokens: VideoTokens | None = None,
    *,
    source: str | Path | None = None,
    facts: Path | None = None,
    question: str = "",
    relevance: Relevance | None = None,
) -> Clip:
    """Write the viewer's files for up to ``MAX_METHODS`` runs of one clip; return its JSON.

    Args:
        runs: runs on the same frames; their token grids may differ.
        a: index of the run shown as A.
        b: index of the run shown as B; None shows A alone.
        tokens: the clip's tokens, encoded by the model of ``runs[0]``. From them the viewer gets
            novelty and effective ranks. Without them it has only what is saved with the runs.
        source: the clip's own file, for the video with sound.
        facts: JSON file with the scene of a Glimpse example.
        question: the question; with ``facts``, the viewer outlines the objects of its answer.
        relevance: relevance of the clip's tokens for the answer.

    Raises:
        ValueError: too many runs, an index out of range, or runs on different frames.
    """
    value = publish(pack(runs, a, b, tokens, relevance))
    if source is not None:
        value["video"] = address(Path(source))
    found = truth(facts, question, runs[0].video) if facts else None
    if found:
        value["truth"] = found
    return value


def pack(
    runs: Sequence[Run],
    a: int = 0,
    b: int | None = None,
    tokens: VideoTokens | None = None,
    relevance: Relevance | None = None,
) -> Packed:
    """Return what :func:`payload` would write for some runs, without writing files."""
    first = _checked(runs, a, b)
    sheet, tiles = _frame_sheet(first.video)
    arena = Arena()
    geometry = _geometry(first)
    facts = None if tokens is None else clip_features(tokens)
    value: Clip = {
        "tiles": tiles,
        **geometry,
        "name": first.video.name,
        "seconds": [round(float(second), 3) for second in first.video.timestamps],
        "novelty": None if facts is None else rounded(facts.novelty),
        "a": a,
        "b": b,
        "methods": [
            _placed(pack_run(run, label, arena, tokens, relevance), _geometry(run), geometry)
            for run, label in zip(runs, labels(runs), strict=True)
        ],
        "relevance": None if relevance is None else pack_relevance(relevance, arena),
    }
    return Packed(value, sheet, arena.content())


def _checked(runs: Sequence[Run], a: int, b: int | None) -> Run:
    """Return ``runs[0]``. Raises ``ValueError`` if the runs cannot be shown together."""
    if not 1 <= len(runs) <= MAX_METHODS:
        raise ValueError(f"runs={len(runs)} must be in [1, {MAX_METHODS}] to be shown together")
    for name, index in (("a", a), ("b", b)):
        if index is not None and not 0 <= index < len(runs):
            raise ValueError(f"{name}={index!r} must be in [0, {len(runs) - 1}]")
    first = runs[0]
    for run in runs[1:]:
        if run.video is not first.video and not np.array_equal(
            run.video.frames, first.video.frames
        ):
            raise ValueError("only runs of the same clip and frames fit into one viewer")
    return first


def publish(packed: Packed, folder: Path | None = None) -> Clip:
    """Write the image and the binary file of a viewer; return its JSON with their addresses."""
    folder = folder or Path(get_upload_folder()) / "viewer"
    sheet, data = _write(packed.sheet, "jpg", folder), _write(packed.data, "bin", folder)
    return {**packed.value, "sheet": sheet, "data": data}


def _write(content: bytes, ending: str, folder: Path) -> File:
    folder.mkdir(parents=True, exist_ok=True)
    trim(folder, FOLDER_BYTES)
    path = folder / f"{hashlib.blake2b(content, key=_KEY, digest_size=12).hexdigest()}.{ending}"
    if path.exists():
        path.touch()  # the file is in use again, so it must not be deleted as old
    else:
        partial = path.with_suffix(f".{secrets.token_hex(4)}")
        partial.write_bytes(content)
        partial.replace(path)
    return address(path)


def address(path: Path) -> File:
    """Return Gradio's description of a file, which the page receives as a URL."""
    return {"path": str(as_served(path)), "meta": {"_type": "gradio.FileData"}}


def _frame_sheet(video: Video) -> tuple[bytes, Tiles]:
    """Return all frames as one JPEG, with its layout; cached by video."""
    if video not in _sheets:
        count, height, width = video.frames.shape[:3]
        scale = min(1.0, TILE_SIDE / max(height, width))
        scale = min(scale, math.sqrt(SHEET_PIXELS / (count * height * width)))
        tall, wide = max(1, int(height * scale)), max(1, int(width * scale))
        columns = math.ceil(math.sqrt(count * tall / wide))
        sheet = Image.new("RGB", (columns * wide, math.ceil(count / columns) * tall))
        for index, frame in enumerate(video.frames):
            tile = Image.fromarray(frame).resize((wide, tall), Image.Resampling.BILINEAR)
            sheet.paste(tile, (index % columns * wide, index // columns * tall))
        buffer = io.BytesIO()
        sheet.save(buffer, "JPEG", quality=84)
        tiles: Tiles = {"count": count, "columns": columns, "width": wide, "height": tall}
        _sheets[video] = buffer.getvalue(), tiles
    return _sheets[video]


def _geometry(run: Run) -> Geometry:
    """Return the token grid, the temporal unit of every frame, and the area that tokens cover."""
    units = run.compression.grid[0]
    per_unit = math.ceil(len(run.video) / units)
    return {
        "grid": list(run.compression.grid),
        "units": [min(frame // per_unit, units - 1) for frame in range(len(run.video))],
        "area": _token_area(run),
    }


def _placed(method: Method, geometry: Geometry, first: Geometry) -> Method:
    """Add ``geometry`` to a run if it differs from that of the first run."""
    return method if geometry == first else {**method, **geometry}


def _token_area(run: Run) -> list[float]:
    """Return the area covered by tokens: left, top, right, bottom as fractions of the frame."""
    height, width = run.video.source_size
    boxes = run.rectangles  # of each token of a unit: left, top, right, bottom in source pixels
    left, top = boxes[:, :2].amin(dim=0).tolist()
    right, bottom = boxes[:, 2:].amax(dim=0).tolist()
    return [round(x, 4) for x in (left / width, top / height, right / width, bottom / height)]
