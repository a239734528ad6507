"""The frame viewer: frames, masks and scores go to the browser once, stepping asks nothing more.

A result is packed into a small JSON value, one JPEG sheet with all frames and one binary file with
all masks and scores. ``assets/viewer.js`` reads them; nothing here knows a model or a method.
"""

from __future__ import annotations

import hashlib
import io
import math
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import gradio as gr
import numpy as np
from gradio.utils import get_upload_folder
from PIL import Image

from gleanvid.compressors import COMPRESSORS
from gleanvid.run import Run
from gleanvid.types import Compression, Video

ASSETS = Path(__file__).resolve().parent.parent / "assets"
TEMPLATE = (ASSETS / "viewer.html").read_text(encoding="utf-8")
SCRIPT = "\n".join(
    (ASSETS / name).read_text(encoding="utf-8") for name in ("viewer_paint.js", "viewer.js")
)
SHEET_PIXELS = 8_000_000  # phones refuse images above 16 million pixels
TILE_SIDE = 720
SCORE_LABELS = {  # in the order shown; other scores follow under their own names
    "joint": "joint score",
    "lrs": "LRS",
    "scs": "SCS",
}

_sheets: WeakKeyDictionary[Video, tuple[bytes, dict[str, int]]] = WeakKeyDictionary()


class Packed(NamedTuple):
    """What the browser gets: ``value`` is JSON without addresses, the other two are whole files."""

    value: dict[str, Any]
    sheet: bytes
    data: bytes


def pack(run: Run) -> Packed:
    """Everything the viewer shows of one run; a pure function of it."""
    video, record = run.video, run.compression
    sheet, tiles = _frame_sheet(video)
    method, data = _pack_method(str(run.compressor.get("name", "")), record)
    units = record.grid[0]
    per_unit = math.ceil(len(video) / units)
    value = {
        "name": video.name,
        "tiles": tiles,
        "grid": list(record.grid),
        "units": [min(frame // per_unit, units - 1) for frame in range(len(video))],
        "seconds": [round(float(second), 3) for second in video.timestamps],
        "area": _token_area(run),
        "methods": [method | {"offset": 0}],
    }
    return Packed(value, sheet, data)


def publish(packed: Packed, folder: Path | None = None) -> dict[str, Any]:
    """Write both files, named by their content, and return the value with their addresses."""
    folder = folder or Path(get_upload_folder()) / "viewer"
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for key, content, ending in (("sheet", packed.sheet, "jpg"), ("data", packed.data, "bin")):
        path = folder / f"{hashlib.sha256(content).hexdigest()[:24]}.{ending}"
        if path.exists():
            path.touch()  # in use again: old files are deleted by age
        else:
            partial = path.with_suffix(f".{secrets.token_hex(4)}")
            partial.write_bytes(content)
            partial.replace(path)
        files[key] = address(path)
    return packed.value | files


def address(path: Path) -> dict[str, Any]:
    """A file as Gradio sends it: the page receives a URL in its place."""
    return {"path": str(path), "meta": {"_type": "gradio.FileData"}}


def _frame_sheet(video: Video) -> tuple[bytes, dict[str, int]]:
    """All frames side by side in one JPEG, kept for as long as the video is."""
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
        tiles = {"count": count, "columns": columns, "width": wide, "height": tall}
        _sheets[video] = buffer.getvalue(), tiles
    return _sheets[video]


def _pack_method(name: str, record: Compression) -> tuple[dict[str, Any], bytes]:
    """One method's mask, packed to bits, then one byte a token for every score."""
    parts = [np.packbits(record.mask.cpu().numpy()).tobytes()]
    channels = []
    known = [key for key in SCORE_LABELS if key in record.scores]
    for key in dict.fromkeys([*known, *record.scores]):
        score = np.nan_to_num(record.scores[key].detach().cpu().float().numpy())  # [L]
        if len(score) != record.num_tokens:
            continue
        low, high = float(score.min()), float(score.max())
        steps = np.round((score - low) / ((high - low) or 1.0) * 255)
        parts.append(steps.astype(np.uint8).tobytes())
        channels.append(
            {"name": key, "label": SCORE_LABELS.get(key, key), "low": low, "high": high}
        )
    novelty = record.trace.get("novelty")
    method = {
        "name": name,
        "label": COMPRESSORS[name].__name__ if name in COMPRESSORS else name,
        "kept": record.num_kept,
        "tokens": record.num_tokens,
        "budgets": record.budgets.tolist(),
        "uniform": record.num_kept / record.grid[0],
        "novelty": None if novelty is None else [round(float(x), 5) for x in novelty],
        "channels": channels,
    }
    return method, b"".join(parts)


def _token_area(run: Run) -> list[float]:
    """The part of the picture the token grid covers: left, top, right, bottom as shares of it."""
    height, width = run.video.source_size
    boxes = run.rectangles  # [N, 4] source pixels
    left, top = boxes[:, :2].amin(dim=0).tolist()
    right, bottom = boxes[:, 2:].amax(dim=0).tolist()
    return [round(x, 4) for x in (left / width, top / height, right / width, bottom / height)]


class MaskViewer(gr.HTML):
    """The canvas viewer; its value comes from :func:`publish`."""

    def __init__(self, value: Mapping[str, Any] | None = None, **options: Any) -> None:
        super().__init__(
            value,
            html_template=TEMPLATE,
            js_on_load=SCRIPT,
            apply_default_css=False,
            **options,
        )

    def preprocess(self, payload: Any) -> None:
        """What a page sends back is never read."""

    def postprocess(self, value: Any) -> Any:
        return value

    def api_info(self) -> dict[str, Any]:
        return {"type": "object"}

    def example_payload(self) -> dict[str, Any]:
        return {}

    def example_value(self) -> dict[str, Any]:
        return {}
