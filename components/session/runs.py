"""Runs by their ids, with diagnostics where the encoded clip is still in memory."""

from __future__ import annotations

from collections.abc import Sequence

from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run

from .engine import Engine
from .figures import measured

GONE = "These runs are no longer on the server. Run them again."


def measured_runs(engine: Engine, ids: Sequence[str], model: str, pixels: int | None) -> list[Run]:
    """Those that are still in the store; diagnostics need the clip encoded.

    ``model`` and ``pixels`` (of a frame) say which encoded clip is meant.
    """
    runs = [run for run in map(engine.runs.get, ids) if run is not None]
    if not runs:
        return []
    video = runs[0].video
    clip = engine.encoded(ClipKey(video, model, int(pixels or 0) * len(video) or None))
    return measured(runs, clip.tokens if clip else None)
