"""A clip that a person brings: read before it takes the place of the one on the page."""

from __future__ import annotations

from ..request import NO_CLIP
from ..work.engine import Engine

READING = "Reading the clip…"


def read(engine: Engine, path: str | None, frames: int, session: str) -> None:
    """Read the clip; the engine has it then. What the page shows stays as it is.

    Raises what ``Engine.clip`` raises: ``VideoError`` for a file that is no clip, ``BusyError``,
    and ``StoppedError`` where this page has brought or chosen another clip meanwhile.
    """
    if not path:
        raise ValueError(NO_CLIP)
    work = engine.pages.begin_upload(session)
    try:
        engine.clip(path, frames, work)
    finally:
        engine.pages.leave(session, work)
