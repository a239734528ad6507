"""Read an uploaded clip before it replaces the current clip of the page."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from typing import Any

from PIL import Image

from gleanvid.types import StoppedError

from ..display import reading
from ..request import NO_CLIP
from ..work.engine import Engine

THUMBNAIL = 132  # pixels of the thumbnail's longer side


def read(engine: Engine, path: str | None, frames: int, session: str) -> Iterator[str]:
    """Read the clip into the engine's cache; yield sentences on how many frames are decoded.

    Raises ``ValueError`` without a path, ``VideoError`` for a file that is no clip, ``BusyError``,
    and ``StoppedError``, whose message is empty if the page has chosen another clip meanwhile.
    """
    if not path:
        raise ValueError(NO_CLIP)
    work = engine.pages.begin_upload(session)
    try:
        yield from reading(engine, path, frames, work)
    except StoppedError as error:
        raise StoppedError(work.why) from error
    finally:
        engine.pages.leave(session, work)


def thumbnail(frame: Any, side: int = THUMBNAIL, quality: int = 75) -> str:
    """Return a frame, uint8 [height, width, 3], as a JPEG of at most ``side`` in a data URL."""
    picture = Image.fromarray(frame)
    picture.thumbnail((side, side))
    content = io.BytesIO()
    picture.save(content, "JPEG", quality=quality)
    return f"data:image/jpeg;base64,{base64.b64encode(content.getvalue()).decode()}"
