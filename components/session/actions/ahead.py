"""Encode the shown clip in the background before anybody changes a setting."""

from __future__ import annotations

import threading
from contextlib import suppress

from gleanvid.errors import BusyError, StoppedError
from gleanvid.models.encoded import ClipKey
from gleanvid.types import ModelError

from ..work.engine import Engine
from ..work.queue import Work


def encode_ahead(engine: Engine, clip: ClipKey) -> threading.Thread | None:
    """Encode a clip in the background, so that the next change of a setting shows at once.

    Does nothing and returns None while anybody uses the model, or if GPU time is metered.
    """
    if engine.backend.is_metered or len(engine.queue) or engine.encoded(clip):
        return None
    thread = threading.Thread(target=_encode, args=(engine, clip, Work()), daemon=True)
    thread.start()
    return thread


def _encode(engine: Engine, clip: ClipKey, work: Work) -> None:
    # Ignore errors here: the next request for this clip raises and shows the same error.
    with suppress(ModelError, StoppedError, BusyError), engine.queue.place(work):
        engine.encode(clip, work)
