"""What a tab showed before it was loaded again, from the ids of runs that its browser kept.

An id is 128 random bits, so whoever knows one has had its run on a page of his own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run
from gleanvid.types import VideoTokens

from ...viewer.payload import MAX_METHODS, payload
from ..request import Sides
from ..work.engine import Engine
from .preview import View, answers, pair

KEPT_CHARS = 10_000
BACK = "Your results, as they were before the page was loaded again."
NO_CLIP = "Their clip is no longer here: upload it again to ask more about it."
NO_TABLE = "The table of a comparison is not kept: compare again."
SOME_GONE = "Some are no longer on the server."
ALL_GONE = "What was on this page before is no longer on the server. Choose a clip and ask again."


@dataclass(frozen=True)
class Restored:
    """``view`` and ``path``, the file of the clip, are None where nothing is left of them."""

    text: str
    view: View | None = None
    path: str | None = None


def restored(engine: Engine, text: str | None, model: str = "") -> Restored | None:
    """``text``: what ``assets/page/kept.js`` kept; ``model``: as in `Sides`. None: nothing kept."""
    ids, was_compared = kept(text)
    runs = {run_id: run for run_id in ids if (run := engine.runs.get(run_id))}
    if not runs:
        return Restored(ALL_GONE) if ids else None
    fit = together(runs)
    first_id, first = next(iter(fit.items()))
    path = engine.runs.path(first_id)
    asked = next((run.question for run in fit.values() if run.question), "")
    example = engine.runs.example(first_id)
    value = payload(
        list(fit.values()),
        *pair(len(fit)),
        tokens_of(engine, first),
        source=path,
        facts=example and example.facts,
        question=asked,
    )
    value["runs"] = list(fit)
    sides = Sides(list(fit), question=asked, model=model)
    sentences = [BACK, SOME_GONE * (len(runs) < len(ids)), NO_CLIP * (path is None)]
    sentences.append(NO_TABLE * was_compared)
    view = View([*fit], value, answers(engine.runs, sides))
    return Restored(" ".join(filter(None, sentences)), view, path)


def kept(text: str | None) -> tuple[list[str], bool]:
    """Ids of the runs in the viewer, and whether a comparison stood on the page.

    Whatever else a browser sends is nothing.
    """
    try:
        told = json.loads((text or "")[:KEPT_CHARS])
        ids, was_compared = map(str, told["shown"]), told.get("compared") is True
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return [], False
    return list(dict.fromkeys(ids))[:MAX_METHODS], was_compared


def together(runs: dict[str, Run]) -> dict[str, Run]:
    """The first run, and those of its clip and grid that one viewer can show beside it."""
    first = next(iter(runs.values()))
    return {
        run_id: run
        for run_id, run in runs.items()
        if run.video is first.video and run.compression.grid == first.compression.grid
    }


def tokens_of(engine: Engine, run: Run) -> VideoTokens | None:
    """The tokens of the run's clip, where the model still holds them."""
    clip = engine.encoded(ClipKey(run.video, run.model, run.made_with.get("max_pixels")))
    return clip.tokens if clip and clip.tokens.grid == run.compression.grid else None
