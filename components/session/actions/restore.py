"""Restore earlier results: those of a reloaded tab, and a run saved to a file.

A browser keeps the ids of its runs. An id is 128 random bits, so whoever knows one has had its run
on a page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gleanvid.errors import MALFORMED, BusyError
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run
from gleanvid.types import VideoError, VideoTokens

from ...viewer.payload import MAX_METHODS
from ..request import Sides
from ..work.engine import Engine
from .preview import View, pair, view_of

KEPT_CHARS = 10_000
BACK = "Your results, as they were before the page was loaded again."
NO_CLIP = "Their clip is no longer here: upload it again to ask more about it."
NO_SHELF = "Clips of your own left the row of clips: upload them again."
NO_TABLE = "The table of a comparison is not kept: compare again."
SOME_GONE = "Some are no longer on the server."
ALL_GONE = "What was on this page before is no longer on the server. Choose a clip and ask again."


@dataclass(frozen=True)
class Restored:
    """Restored results. ``view`` and ``path`` (file of the clip) are None if they are gone."""

    text: str
    view: View | None = None
    path: str | None = None


def restored(engine: Engine, text: str | None, model: str = "") -> Restored | None:
    """Return the results whose ids are in ``text``, None if it has none.

    ``text``: what ``assets/page/kept.js`` wrote; ``model``: as in `Sides`.
    """
    ids, was_compared, own = kept(text)
    runs = {run_id: run for run_id in ids if (run := engine.runs.get(run_id))}
    if not runs:
        lost = [ALL_GONE] if ids else []
        lost += [NO_SHELF] if own else []
        return Restored(" ".join(lost)) if lost else None
    fit = together(runs)
    first_id, first = next(iter(fit.items()))
    path, example = engine.runs.path(first_id), engine.runs.example(first_id)
    question = next((run.question for run in fit.values() if run.question), "")
    sides = Sides(question=question, model=model)
    view = view_of(engine, fit, sides, pair(len(fit)), tokens_of(engine, first), path, example)
    sentences = [BACK]
    if len(runs) < len(ids):
        sentences.append(SOME_GONE)
    if path is None:
        sentences.append(NO_CLIP)
    elif [clip for clip in own if not path.endswith(clip)]:
        sentences.append(NO_SHELF)
    if was_compared:
        sentences.append(NO_TABLE)
    return Restored(" ".join(sentences), view, path)


def kept(text: str | None) -> tuple[list[str], bool, list[str]]:
    """Parse the state: ids of runs in the viewer, whether there was a comparison, uploaded clips.

    Malformed text counts as no ids.
    """
    try:
        content = json.loads((text or "")[:KEPT_CHARS])
        ids, was_compared = map(str, content["shown"]), content.get("compared") is True
        own = [str(clip) for clip in content.get("own", [])]
    except MALFORMED:
        return [], False, []
    return list(dict.fromkeys(ids))[:MAX_METHODS], was_compared, own


def together(runs: dict[str, Run]) -> dict[str, Run]:
    """Return the first run and those of the same clip and grid, which one viewer can show."""
    first = next(iter(runs.values()))
    return {
        run_id: run
        for run_id, run in runs.items()
        if run.video is first.video and run.compression.grid == first.compression.grid
    }


def tokens_of(engine: Engine, run: Run) -> VideoTokens | None:
    """Return the tokens of the run's clip, if they are still in memory."""
    clip = engine.encoded(ClipKey(run.video, run.model, run.made_with.get("max_pixels")))
    return clip.tokens if clip and clip.tokens.grid == run.compression.grid else None


def at_home(engine: Engine, run: Run, paths: Iterable[str]) -> tuple[Run, str | None]:
    """Find the clip of a saved run among ``paths``, by name and frames.

    Returns the run with the frames of that file and its path; the run itself and None if there is
    no such file.
    """
    for path in paths:
        if Path(path).name != run.video.name:
            continue
        with suppress(VideoError, BusyError):  # the file may be gone
            video = engine.clip(path, len(run.video))
            if np.array_equal(video.frames, run.video.frames):
                return replace(run, video=video), path
    return run, None
