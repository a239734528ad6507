"""Show the results of a reloaded page again.

The browser stores the ids of its page's runs, and the server the runs. An id is 128 random bits, so
nobody can guess the id of another visitor's run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gleanvid.errors import MALFORMED
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run
from gleanvid.types import VideoTokens

from ..jobs.engine import Engine
from ..jobs.request import Sides
from ..tokens.preview import View, pair, view_of
from ..viewer.payload import MAX_METHODS

PICTURE = re.compile("data:image/jpeg;base64,[A-Za-z0-9+/=]+")
KEPT_CHARS = 100_000  # maximum length of the JSON from the browser; most of it is thumbnails
BACK = "Your results from before the page was reloaded are restored."
NO_CLIP = (
    "The clip of these results is no longer on the server: upload it again to ask more about it."
)
NO_SHELF = "Some uploaded clips are no longer on the server: upload them again."
SOME_GONE = "Some results are no longer on the server."
ALL_GONE = (
    "The earlier results of this page are no longer on the server. Choose a clip and ask again."
)


@dataclass(frozen=True)
class Restored:
    """What a reloaded page shows again.

    Attributes:
        text: message for the user.
        view: content of the viewer; None if its runs are no longer on the server.
        path: file of the clip; None if it is no longer on the server.
        own: thumbnails of the visitor's uploaded clips, by path.
    """

    text: str
    view: View | None = None
    path: str | None = None
    own: Mapping[str, str] = field(default_factory=dict)


class Kept(NamedTuple):
    """The state of a page that ``assets/page/kept.js`` stored in the browser.

    ``ids``: ids of the runs in the viewer. ``own``: thumbnails of the uploaded clips, by the end of
    their path.
    """

    ids: list[str]
    own: Mapping[str, str] = {}
    clip: str = ""  # end of the path of the chosen clip, if the visitor uploaded it


def restored(
    engine: Engine, text: str | None, find: Callable[[str], str | None], model: str = ""
) -> Restored | None:
    """Return the clips and results that ``text`` names; None if there is nothing to restore.

    Args:
        engine: engine whose store has the runs.
        text: the state that ``assets/page/kept.js`` stored, as JSON.
        find: turns the end of an uploaded clip's path into the full path; None if it is gone.
        model: name of the page's model, empty if unknown.
    """
    ids, shelf, clip = kept(text)
    runs = {run_id: run for run_id in ids if (run := engine.runs.get(run_id))}
    own = {path: picture for name, picture in shelf.items() if (path := find(name))}
    if not runs:
        lost = [ALL_GONE] if ids else []
        lost += [NO_SHELF] if len(own) < len(shelf) else []
        back = Restored(" ".join(lost), None, find(clip) if clip else None, own)
        return back if lost or own or back.path else None
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
    elif len(own) < len(shelf):
        sentences.append(NO_SHELF)
    return Restored(" ".join(sentences), view, path, own)


def kept(text: str | None) -> Kept:
    """Parse the state that the browser stored; malformed text gives an empty state."""
    try:
        content = json.loads((text or "")[:KEPT_CHARS])
        ids = list(dict.fromkeys(map(str, content["shown"])))[:MAX_METHODS]
        own = {str(one["clip"]): _picture(one["picture"]) for one in content.get("own", [])}
        return Kept(ids, own, str(content.get("clip", "")))
    except MALFORMED:
        return Kept([])


def _picture(sent: Any) -> str:
    """Return ``sent`` if it is a JPEG thumbnail as a data URL, else an empty text."""
    return sent if isinstance(sent, str) and PICTURE.fullmatch(sent) else ""


def together(runs: dict[str, Run]) -> dict[str, Run]:
    """Return the runs that the viewer can show with the first: same clip, same token grid."""
    first = next(iter(runs.values()))
    return {
        run_id: run
        for run_id, run in runs.items()
        if run.video is first.video and run.compression.grid == first.compression.grid
    }


def tokens_of(engine: Engine, run: Run) -> VideoTokens | None:
    """Return the encoded tokens of the run's clip, if they are still in memory."""
    clip = engine.encoded(ClipKey(run.video, run.model, run.made_with.get("max_pixels")))
    return clip.tokens if clip and clip.tokens.grid == run.compression.grid else None
