"""How a decoded frame is shown: turned and mirrored, with square pixels, fitted into one size."""

from __future__ import annotations

import struct
from fractions import Fraction
from typing import Any

import numpy as np
from av.video.frame import VideoFrame

from gleanvid.video.plan import Picture


def orientation(frame: VideoFrame) -> tuple[bool, bool, bool]:
    """Return whether to swap rows and columns, then flip up and down, then left and right.

    The file states this as a matrix that maps stored positions to shown ones.
    """
    matrix: Any = frame.side_data.get("DISPLAYMATRIX")
    if matrix is None:
        return False, False, False
    a, b, _, c, d = struct.unpack("5i", bytes(matrix)[:20])
    if abs(a) + abs(d) >= abs(b) + abs(c):
        return False, d < 0, a < 0
    return True, b < 0, c < 0


def shown_size(frame: VideoFrame, pixel: Fraction) -> tuple[int, int]:
    """Return (height, width) as shown; ``pixel`` is the width of a stored pixel per height."""
    ratio = float(pixel)
    height, width = round(frame.height / min(ratio, 1)), round(frame.width * max(ratio, 1))
    return (width, height) if orientation(frame)[0] else (height, width)


def shown(frame: VideoFrame, pixel: Fraction, size: tuple[int, int]) -> Picture:
    """Return a frame as shown, RGB, fitted into ``size``, with black bars if its shape differs.

    A plan may round each side of ``size``, so a pixel more or less makes no bar.
    """
    swap, flip_rows, flip_columns = orientation(frame)
    source = shown_size(frame, pixel)
    scale = min(size[0] / source[0], size[1] / source[1])
    inner = [max(1, round(side * scale)) for side in source]
    inner = [most if most - side < 2 else side for side, most in zip(inner, size, strict=True)]
    height, width = inner[::-1] if swap else inner
    if (frame.height, frame.width) != (height, width):
        frame = frame.reformat(width, height, format="rgb24", interpolation="BICUBIC")
    picture = frame.to_ndarray(format="rgb24")
    picture = picture.swapaxes(0, 1) if swap else picture
    picture = picture[:: -1 if flip_rows else 1, :: -1 if flip_columns else 1]
    if picture.shape[:2] == size:
        return picture
    whole = np.zeros((*size, 3), np.uint8)
    top, left = (size[0] - inner[0]) // 2, (size[1] - inner[1]) // 2
    whole[top : top + inner[0], left : left + inner[1]] = picture
    return whole


def resized(picture: Picture, size: tuple[int, int]) -> Picture:
    """Scale an RGB frame to ``size`` (height, width), if it has another size.

    Not every decoder can scale: decord fails if the width is not a multiple of 32 pixels.
    """
    if picture.shape[:2] == size:
        return picture
    frame = VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
    return frame.reformat(size[1], size[0], interpolation="BICUBIC").to_ndarray()
