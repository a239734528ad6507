"""What a tab showed before it was loaded again, from the ids of runs that its browser kept.

An id is 128 random bits, so whoever knows one has had its run on a page of his own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from components.session.actions import EXCHANGES_SHOWN
from components.session.display import Exchange, exchange
from components.session.engine import Engine
from components.session.examples import Example, expected
from components.viewer.payload import MAX_METHODS, payload
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run
from gleanvid.types import VideoTokens

KEPT_CHARS = 10_000
BACK = "Your results, as they were before the page was loaded again."
NO_CLIP = "Their clip is no longer here: upload it again to ask more about it."
SOME_GONE = "Some are no longer on the server."
ALL_GONE = "What was on this page before is no longer on the server. Choose a clip and ask again."


class Restored(NamedTuple):
    """``exchanges``, ``viewer`` and ``runs`` are None where nothing is left."""

    text: str
    exchanges: list[Exchange] | None = None
    viewer: dict[str, Any] | None = None
    runs: list[str] | None = None  # ids, the one in charge first
    path: str | None = None  # the file of the clip, where it is still there


def restored(engine: Engine, text: str | None, examples: Sequence[Example]) -> Restored | None:
    """``text``: what ``assets/page.js`` kept. None where it kept nothing."""
    asked, shown = kept(text)
    ids = [*dict.fromkeys([*asked, *shown])]
    runs = {run_id: run for run_id in ids if (run := engine.runs.get(run_id))}
    if not runs:
        return Restored(ALL_GONE) if ids else None
    paths = {run_id: engine.runs.path(run_id) for run_id in runs}
    exchanges = []
    for run_id in asked:
        if (run := runs.get(run_id)) and run.question:
            truth = expected(examples, paths[run_id], run.question)
            exchanges.append(exchange(run.question, run.answer, run, truth, run_id=run_id))
    seen = together([(run_id, runs[run_id]) for run_id in [*shown, *asked[::-1]] if run_id in runs])
    view = payload(list(seen.values()), tokens=tokens_of(engine, next(iter(seen.values()))))
    path = paths[next(iter(seen))]
    said = [BACK, SOME_GONE * (len(runs) < len(ids)), NO_CLIP * (path is None)]
    return Restored(
        " ".join(filter(None, said)), exchanges, view | {"runs": [*seen]}, [*seen], path
    )


def kept(text: str | None) -> tuple[list[str], list[str]]:
    """Ids of the turns and of the runs in the viewer; whatever else a browser sends is nothing."""
    try:
        told = json.loads((text or "")[:KEPT_CHARS])
        found = [[str(run_id) for run_id in told[part]] for part in ("turns", "shown")]
    except (ValueError, TypeError, KeyError, RecursionError):
        return [], []
    return found[0][-EXCHANGES_SHOWN:], found[1][:MAX_METHODS]


def together(pairs: Sequence[tuple[str, Run]]) -> dict[str, Run]:
    """The first run, and those of its clip and grid that one viewer can show beside it."""
    _, first = pairs[0]
    fit = [
        (run_id, run)
        for run_id, run in pairs
        if run.video is first.video and run.compression.grid == first.compression.grid
    ]
    return dict(fit[:MAX_METHODS])


def tokens_of(engine: Engine, run: Run) -> VideoTokens | None:
    """The tokens of the run's clip, where the model still holds them."""
    clip = engine.encoded(ClipKey(run.video, run.model, run.made_with.get("max_pixels")))
    return clip.tokens if clip and clip.tokens.grid == run.compression.grid else None
