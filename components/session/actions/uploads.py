"""Read an uploaded clip before it replaces the current clip of the page."""

from __future__ import annotations

import base64
import io
from typing import Any

from PIL import Image

from gleanvid.types import StoppedError, Video

from ..request import NO_CLIP
from ..work.engine import Engine

READING = "Reading the clip…"
THUMBNAIL = 132  # pixels of its longer side


def read(engine: Engine, path: str | None, frames: int, session: str) -> Video:
    """Read the clip into the engine's cache, without changing the page.

    Raises what ``Engine.clip`` raises: ``VideoError`` for a file that is no clip, ``BusyError``,
    and ``StoppedError``, without a message if this page has chosen another clip meanwhile.
    """
    if not path:
        raise ValueError(NO_CLIP)
    work = engine.pages.begin_upload(session)
    try:
        return engine.clip(path, frames, work)
    except StoppedError as error:
        raise StoppedError(work.why) from error
    finally:
        engine.pages.leave(session, work)


def thumbnail(frame: Any) -> str:
    """Return a frame, uint8 [height, width, 3], as a small JPEG in a data URL."""
    picture = Image.fromarray(frame)
    picture.thumbnail((THUMBNAIL, THUMBNAIL))
    content = io.BytesIO()
    picture.save(content, "JPEG")
    return f"data:image/jpeg;base64,{base64.b64encode(content.getvalue()).decode()}"
