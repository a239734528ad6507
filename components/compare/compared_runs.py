"""Show the runs of a comparison in the viewer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from gleanvid.attribution.relevance import Relevance
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run

from ..jobs.engine import Engine
from ..jobs.queue import Work
from ..jobs.request import Request, Sides
from ..tokens.preview import View, find_run, pair, view_of, with_earlier
from ..viewer.payload import MAX_METHODS


def compared_view(
    engine: Engine, request: Request, sides: Sides, clip: ClipKey, new: Mapping[str, Run]
) -> tuple[View, dict[str, Run]]:
    """Return the viewer's content with as many runs as it can show, and all runs by id.

    ``new``: the runs of the comparison, by id. The run with the baseline's settings is shown as A,
    and the run with the page's settings as B, if there are such runs.
    """
    in_viewer = replace(sides, runs=[*new, *sides.runs])
    a = find_run(engine, clip, sides.reference, in_viewer)
    b = None
    with suppress(ValueError):
        b = find_run(engine, clip, request.make_compressor(), in_viewer)
    if b and b[1].question != sides.question:
        b = None
    stay = [dict([one] if one else []) for one in (a, b)]
    runs = with_earlier(engine.runs, clip, {**stay[0], **new, **stay[1]}, sides.runs)
    runs = _in_order(runs, request, sides.question)
    first = dict(list(runs.items())[:MAX_METHODS])
    encoded = engine.encoded(clip)
    view = view_of(
        engine,
        first,
        Sides(question=sides.question),
        pair(len(first)),
        encoded.tokens if encoded else None,
        request.path,
        request.example,
    )
    return view, runs


def relevance_for(
    engine: Engine, clip: ClipKey, earlier: Sequence[str], run_id: str, run: Run, work: Work
) -> Relevance | None:
    """Return how relevant each token is for the answer of ``run``; None for an empty answer.

    The relevance is measured, unless it is stored with this run or one of the runs ``earlier``.
    """
    found = engine.runs.relevance([run_id, *engine.runs.of_clip(clip, earlier)], run.question)
    if run.answer and (found is None or found.answer != run.answer):
        found = engine.relevance(clip, run.question, run.answer, work)
        engine.runs.add_relevance(run_id, found)
    return found if run.answer else None


def _in_order(runs: Mapping[str, Run], request: Request, question: str) -> dict[str, Run]:
    """Sort runs as the viewer expects them: B, then A (the first of ``runs``), then the others.

    B is the run with the page's settings, if that run answered the question. Otherwise it is the
    first run that does not keep all tokens.
    """
    a, *others = runs.items()
    own: Mapping[str, Any] = {}
    with suppress(ValueError):
        own = request.make_compressor().settings()
    choices = (
        [one for one in others if (one[1].compressor, one[1].question) == (own, question)],
        [one for one in others if one[1].compressor["name"] != "full"],
        others,
    )
    b = next(filter(None, choices), [])[:1]
    return dict([*b, a, *(one for one in others if one not in b)])
