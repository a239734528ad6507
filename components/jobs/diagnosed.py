"""Add diagnostics to runs while the tokens of their encoded clip are in memory."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from gleanvid.metrics import (
    RandomKeeping,
    debiased,
    diagnose,
    diagnostics_of,
    random_keeping,
    with_diagnostics,
)
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run
from gleanvid.types import VideoTokens

from .engine import Engine

if TYPE_CHECKING:
    from torch import Tensor

GONE = "These runs are no longer on the server. Run them again."

_debiased: WeakKeyDictionary[VideoTokens, Tensor] = WeakKeyDictionary()
_random: WeakKeyDictionary[VideoTokens, dict[int, RandomKeeping]] = WeakKeyDictionary()
_measuring = threading.Lock()


def diagnosed_runs(engine: Engine, ids: Sequence[str], model: str, pixels: int | None) -> list[Run]:
    """Return the runs that are still in the store, with diagnostics if the clip is encoded.

    ``model`` and ``pixels`` (the limit per frame) tell which encoding of the clip is meant.
    """
    runs = [run for run in map(engine.runs.get, ids) if run is not None]
    if not runs:
        return []
    return diagnosed(runs, tokens_of(engine, runs[0], model, pixels))


def tokens_of(engine: Engine, run: Run, model: str, pixels: int | None) -> VideoTokens | None:
    """Return the encoded tokens of the run's clip, if the model has them in memory."""
    clip = ClipKey(run.video, model, int(pixels or 0) * len(run.video) or None)
    encoded = engine.encoded(clip)
    return encoded.tokens if encoded else None


def diagnosed(runs: Sequence[Run], tokens: VideoTokens | None) -> list[Run]:
    """Return the runs with diagnostics: ranks and energies of their kept tokens.

    ``tokens``: all encoded tokens of the clip; if None, the runs are returned unchanged.
    """
    if tokens is None:
        return list(runs)
    with _measuring:  # without this lock, two pages would compute the same diagnostics
        features = _debiased.get(tokens)
        if features is None:
            features = _debiased[tokens] = debiased(tokens.features.float())
        known = _random.setdefault(tokens, {})
        return [run if diagnostics_of(run) else _added(run, features, known) for run in runs]


def _added(run: Run, features: Tensor, known: dict[int, RandomKeeping]) -> Run:
    """Return the run with diagnostics; ``known`` caches random keeping by number of tokens."""
    record = run.compression
    if record.num_tokens != len(features):
        return run
    if record.num_kept not in known:
        known[record.num_kept] = random_keeping(features, record.grid, record.num_kept)
    found = diagnose(features, record.to(features.device), known[record.num_kept])
    return with_diagnostics(run, found)
