"""Reads a clip that is published as a folder of images."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gleanvid.types import Video, VideoError
from gleanvid.video.plan import fit, uniform_indices

SUFFIXES = (".jpg", ".jpeg", ".png")


def read_frames(
    folder: Path,
    num_frames: int,
    fps: float,
    part: tuple[float, float] | None = None,  # time span: first and last second
    rounding: str = "nearest",
    max_side: int | None = None,
) -> Video:
    """Read ``num_frames`` evenly spaced images of ``folder``, sorted by name.

    With ``part``, only the images from number round(first * fps) to round(last * fps) are used,
    counted from 1 as in MVBench. Raises ``VideoError`` if there are none or one cannot be read.
    """
    from PIL import Image

    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
    if part is not None:
        first, last = (round(second * fps) for second in part)
        paths = paths[max(first, 1) - 1 : last]
    if not paths:
        span = "" if part is None else f" between {part[0]:g} and {part[1]:g} seconds"
        raise VideoError(f"{folder.name} contains no images{span}.")
    rows = uniform_indices(len(paths), num_frames, rounding)
    pictures = []
    for row in rows:
        try:
            with Image.open(paths[row]) as opened:
                picture = opened.convert("RGB")
        except OSError as error:
            raise VideoError(f"{paths[row].name} in {folder.name} cannot be read.") from error
        height, width = fit((picture.height, picture.width), max_side)
        pictures.append(np.asarray(picture.resize((width, height), Image.Resampling.BICUBIC)))
        source = (picture.height, picture.width)
    return Video(
        frames=np.stack(pictures),
        timestamps=rows / fps,
        indices=rows,
        fps=fps,
        duration=len(paths) / fps,
        total_frames=len(paths),
        source_size=source,
        name=folder.name,
        backend="pictures",
    )
