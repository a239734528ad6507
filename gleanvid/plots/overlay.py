"""Frames with the dropped tokens darkened: what the language model receives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gleanvid.plots.labels import heading, labels
from gleanvid.run import Run

if TYPE_CHECKING:
    from torch import Tensor

_DIM = 0.22  # factor by which the brightness of dropped tokens is multiplied
_HOT = np.array([255, 176, 0], np.uint8)  # tint of the token with the largest ``heat``
_EDGE = np.array([240, 240, 240], np.uint8)
_GROUND = np.array([17, 20, 24], np.uint8)  # background between frames and behind captions
_INK, _SOFT = (240, 240, 240), (160, 168, 178)
_GAP = 8  # pixels between frames
_LETTERS, _INDENT = 14, 4  # font size and indent of a caption, in pixels
_WIDTHS = 320, 640  # smallest and largest width of a frame on a sheet, in pixels
_TALLEST = 1280  # largest height of a frame in pixels; taller frames are drawn narrower


def frame_of(run: Run, unit: int, nth: int = 0) -> int:
    """Return the index of a sampled frame: the ``nth`` of a temporal unit, from 0.

    The last unit may lack frames; then it is its last one. Raises ``ValueError`` for other numbers.
    """
    for name, value, count in (
        ("unit", unit, run.compression.grid[0]),
        ("nth", nth, frames_per_unit(run)),
    ):
        if not 0 <= value < count:
            raise ValueError(f"{name}={value} must be in [0, {count - 1}]")
    return min(unit * frames_per_unit(run) + nth, len(run.video) - 1)


def frames_per_unit(run: Run) -> int:
    """Return how many of the sampled frames a temporal unit has."""
    return -(-len(run.video) // run.compression.grid[0])


def overlay_frame(run: Run, unit: int, nth: int = 0) -> np.ndarray:
    """Return a frame with the unit's dropped tokens darkened and its kept tokens outlined.

    ``unit``: temporal unit, from 0; ``nth``: which of its frames, from 0. Returns uint8 [H, W, 3].
    """
    picture = run.video.frames[frame_of(run, unit, nth)]
    kept = _kept_pixels(run, unit)
    overlay = np.where(kept[..., None], picture, (picture * _DIM).astype(np.uint8))
    overlay[kept & ~_inner(kept, max(1, round(min(kept.shape) / 240)))] = _EDGE
    return overlay


def heat_frame(run: Run, heat: Tensor, unit: int) -> np.ndarray:
    """Return the first frame of a unit, dark and grey, tinted amber where ``heat`` is high.

    ``heat`` [L] has one value >= 0 per token of the clip. The strength of the tint, from 0 to 1, is
    sqrt(value / largest value in the clip). Kept tokens are outlined. Returns uint8 [H, W, 3].
    """
    picture = run.video.frames[frame_of(run, unit)]
    grey = np.repeat(picture.mean(2, keepdims=True) * 0.5, 3, 2)
    level = (heat / heat.max().clamp(min=1e-12)).sqrt().view(run.compression.grid[0], -1)[unit]
    amount = np.zeros((*picture.shape[:2], 1))
    for (left, top, right, bottom), value in zip(_boxes(run), level.tolist(), strict=True):
        amount[top:bottom, left:right] = value
    kept = _kept_pixels(run, unit)
    shown = (grey * (1 - amount) + _HOT * amount).astype(np.uint8)
    shown[kept & ~_inner(kept, max(1, round(min(kept.shape) / 240)))] = _EDGE
    return shown


def _boxes(run: Run) -> np.ndarray:
    """Return each token's rectangle in a frame: left, top, right, bottom in pixels, int [N, 4]."""
    height, width = run.video.frames.shape[1:3]
    scale = np.array([width, height, width, height]) / np.tile(run.video.source_size[::-1], 2)
    return np.rint(run.rectangles.numpy() * scale).astype(int)


def _kept_pixels(run: Run, unit: int) -> np.ndarray:
    """Return which pixels of a frame lie in kept tokens of the unit, bool [H, W]."""
    kept = run.compression.mask.numpy().reshape(run.compression.grid[0], -1)[unit]
    pixels = np.zeros(run.video.frames.shape[1:3], bool)
    for left, top, right, bottom in _boxes(run)[kept]:
        pixels[top:bottom, left:right] = True
    return pixels


def _inner(region: np.ndarray, steps: int) -> np.ndarray:
    """Erode a region by ``steps`` pixels; pixels outside the frame count as inside the region."""
    for _ in range(steps):
        wide = np.pad(region, 1, constant_values=True)
        region = region & wide[2:, 1:-1] & wide[:-2, 1:-1] & wide[1:-1, 2:] & wide[1:-1, :-2]
    return region


def contact_sheet(
    run: Run,
    columns: int = 4,
    heat: Tensor | None = None,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> np.ndarray:
    """Return one image with the overlays of all units, ``columns`` in a row.

    Above each overlay are its time and the number of kept tokens. Above all of them are the clip
    and the question, then the method and how many tokens it keeps. With ``heat`` [L] the frames are
    those of :func:`heat_frame`. ``progress`` wraps the iterable of units, as ``tqdm`` does. Returns
    uint8 [H', W', 3].
    """
    record = run.compression
    tiles = [
        captioned(
            _sized(overlay_frame(run, unit) if heat is None else heat_frame(run, heat, unit)),
            f"{unit + 1} · {float(run.seconds[unit, 0]):.2f} s",
            f"{kept} of {record.num_tokens // record.grid[0]}",
        )
        for unit, kept in progress(enumerate(record.budgets.tolist()))
    ]
    columns = min(columns, len(tiles))
    tiles += [np.broadcast_to(_GROUND, tiles[0].shape)] * (-len(tiles) % columns)
    rows = [_beside(tiles[start : start + columns]) for start in range(0, len(tiles), columns)]
    sheet = _beside([row.swapaxes(0, 1) for row in rows]).swapaxes(0, 1)
    counted = f"{record.num_kept:,} of {record.num_tokens:,} tokens"
    return _headed(captioned(sheet, labels([run])[0], counted), run)


def _headed(picture: np.ndarray, run: Run) -> np.ndarray:
    """Put the clip and the question above an image."""
    width = picture.shape[1]
    return np.vstack([*(_strip(width, line) for line in _lines(heading(run), width)), picture])


def _lines(text: str, width: int) -> list[str]:
    """Break text between words into lines of at most ``width`` pixels."""
    from PIL import ImageFont

    font = ImageFont.load_default(_LETTERS)
    lines: list[str] = []
    for word in text.split():
        if lines and font.getlength(f"{lines[-1]} {word}") <= width - 2 * _INDENT:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def side_by_side(runs: Sequence[Run], unit: int, nth: int = 0) -> np.ndarray:
    """Return one frame of a clip with the tokens that each of its runs keeps, side by side.

    ``unit``: temporal unit, from 0; ``nth``: which of its frames, from 0. Two runs are called A
    and B. The clip and the question of the last run are above the frames. Returns uint8
    [H', W', 3].
    """
    pictures = []
    names = labels(runs)
    if len(runs) == 2:
        names = [f"{side} · {name}" for side, name in zip("AB", names, strict=True)]
    for run, label in zip(runs, names, strict=True):
        kept = f"{int(run.compression.budgets[unit])} tokens"
        pictures.append(captioned(_sized(overlay_frame(run, unit, nth)), label, kept))
    return _headed(_beside(pictures), runs[-1])


def _beside(pictures: Sequence[np.ndarray]) -> np.ndarray:
    gap = np.broadcast_to(_GROUND, (len(pictures[0]), _GAP, 3))
    return np.hstack([part for picture in pictures for part in (gap, picture)][1:])


def _sized(picture: np.ndarray) -> np.ndarray:
    """Scale a frame to a width within ``_WIDTHS``, but to a height of at most ``_TALLEST``."""
    from PIL import Image

    height, width = picture.shape[:2]
    scale = min(min(max(width, _WIDTHS[0]), _WIDTHS[1]) / width, _TALLEST / height)
    if scale == 1:
        return picture
    size = max(1, round(width * scale)), max(1, round(height * scale))
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.LANCZOS))


def captioned(picture: np.ndarray, text: str, aside: str = "") -> np.ndarray:
    """Put ``text`` above an image uint8 [H, W, 3], and ``aside`` to its right if it fits."""
    return np.vstack([_strip(picture.shape[1], text, aside), picture])


def _strip(width: int, text: str, aside: str = "") -> np.ndarray:
    """Draw one line of text on a strip of the given width."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(_LETTERS)
    strip = Image.new("RGB", (width, 24), tuple(_GROUND.tolist()))
    pen = ImageDraw.Draw(strip)
    pen.text((_INDENT, 3), text, _INK, font)
    left = strip.width - _INDENT - pen.textlength(aside, font)
    if left > 12 + pen.textlength(text, font):
        pen.text((left, 3), aside, _SOFT, font)
    return np.asarray(strip)
