"""Turn an image, or frames in memory, into a ``Video``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gleanvid.types import Video, VideoError

ENDINGS = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")


def is_picture(path: str | Path) -> bool:
    """Return whether a file's name ends like that of an image, such as "a.png"."""
    return Path(path).suffix.lower() in ENDINGS


def as_video(given: Any) -> Video:
    """Return a ``Video`` unchanged, or one of a frame uint8 [H, W, 3] or a Pillow image.

    Raises ``TypeError`` for other objects, and ``ValueError`` for other shapes and for several
    frames: they have no times.
    """
    if isinstance(given, Video):
        return given
    if not isinstance(given, np.ndarray):
        if not hasattr(given, "convert"):  # the object is not a Pillow image
            kind = type(given).__name__
            raise TypeError(f"video must be a file, a Video, frames or a picture, not {kind}")
        given = np.asarray(given.convert("RGB"))
    if given.ndim not in (3, 4):
        raise ValueError(f"frames must be uint8 [T, H, W, 3], got {list(given.shape)}")
    return Video.from_frames(given[None] if given.ndim == 3 else given)


def read_picture(path: str | Path, max_side: int | None = None) -> Video:
    """Read an image as a video of one frame, turned upright.

    Raises ``VideoError`` if the file is missing or is not a readable image.
    """
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as image:
            whole = ImageOps.exif_transpose(image).convert("RGB")
    except FileNotFoundError as error:
        raise VideoError(f"There is no file called {Path(path).name}.") from error
    except (OSError, Image.DecompressionBombError) as error:
        raise VideoError(f"{Path(path).name} cannot be read as a picture.") from error
    size = whole.height, whole.width
    if max_side is not None:
        whole.thumbnail((max_side, max_side))
    video = Video.from_frames(np.asarray(whole)[None], name=Path(path).name)
    return replace(video, source_size=size)
