"""Look up runs by their ids, and add diagnostics if their encoded clip is still in memory."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run
from gleanvid.types import VideoTokens

from ..jobs.engine import Engine
from .figures import measured

GONE = "These runs are no longer on the server. Run them again."


def measured_runs(engine: Engine, ids: Sequence[str], model: str, pixels: int | None) -> list[Run]:
    """Return the runs that are still in the store, with diagnostics if the clip is encoded.

    ``model`` and ``pixels`` (the limit per frame) tell which encoding of the clip is meant.
    """
    runs = [run for run in map(engine.runs.get, ids) if run is not None]
    if not runs:
        return []
    return measured(runs, tokens_of(engine, runs[0], model, pixels))


def tokens_of(engine: Engine, run: Run, model: str, pixels: int | None) -> VideoTokens | None:
    """Return the encoded tokens of the run's clip, if the model has them in memory."""
    clip = ClipKey(run.video, model, int(pixels or 0) * len(run.video) or None)
    encoded = engine.encoded(clip)
    return encoded.tokens if encoded else None


def distinct(runs: Sequence[Run]) -> list[Run]:
    """Return the runs without those that repeat an earlier run's settings and kept tokens."""
    found: list[Run] = []
    for run in runs:
        if not any(_keep_the_same(run, other) for other in found):
            found.append(run)
    return found


def _keep_the_same(one: Run, other: Run) -> bool:
    if one.compressor != other.compressor or one.by_layer.keys() != other.by_layer.keys():
        return False
    pairs = ((one.by_layer[layer].keep, other.by_layer[layer].keep) for layer in one.by_layer)
    return all(torch.equal(*pair) for pair in pairs)
