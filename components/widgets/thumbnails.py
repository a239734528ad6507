"""Thumbnails of uploaded clips."""

from __future__ import annotations

import base64
import io
from typing import Any

from PIL import Image

THUMBNAIL = 132  # pixels of the thumbnail's longer side


def thumbnail(frame: Any, side: int = THUMBNAIL, quality: int = 75) -> str:
    """Return a frame, uint8 [height, width, 3], as a JPEG of at most ``side`` in a data URL."""
    picture = Image.fromarray(frame)
    picture.thumbnail((side, side))
    content = io.BytesIO()
    picture.save(content, "JPEG", quality=quality)
    return f"data:image/jpeg;base64,{base64.b64encode(content.getvalue()).decode()}"
