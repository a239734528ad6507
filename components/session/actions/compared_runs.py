"""The runs of a comparison in the viewer, and the runs of the viewer as rows of a comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from gleanvid.attribution.relevance import Relevance
from gleanvid.compressors import COMPRESSORS
from gleanvid.models.encoded import ClipKey
from gleanvid.plots.labels import labels
from gleanvid.run import Run

from ...viewer.payload import MAX_METHODS
from ..request import Request, Sides
from ..work.engine import Engine
from ..work.queue import Work
from ..work.store import RunStore
from .preview import View, find_run, pair, view_of, with_earlier
from .rows import Row


def compared_view(
    engine: Engine, request: Request, sides: Sides, clip: ClipKey, new: Mapping[str, Run]
) -> tuple[View, dict[str, Run]]:
    """Return the viewer with as many runs as it can show, and all runs by id.

    A and B keep their runs, if any: a comparison does not change the page's settings.
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
    """Return which tokens an answer rests on, from memory or measured now.

    Returns None for an empty answer.

    ``earlier``: ids of other runs whose relevance may be in memory.
    """
    found = engine.runs.relevance([run_id, *engine.runs.of_clip(clip, earlier)], run.question)
    if run.answer and (found is None or found.answer != run.answer):
        found = engine.relevance(clip, run.question, run.answer, work)
        engine.runs.add_relevance(run_id, found)
    return found if run.answer else None


def _in_order(runs: Mapping[str, Run], request: Request, question: str) -> dict[str, Run]:
    """Sort runs in the order of `Sides`: B, then A (the first of ``runs``), then the others.

    B is the run with the page's settings if that run answered the question, else the run of the
    first method.
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


def rows_at_hand(store: RunStore, ids: Sequence[str], question: str) -> list[Row]:
    """Return the runs that answered ``question`` as finished rows, all tokens first.

    Rows have the fraction of relevance that they keep if it was measured for this question. The
    list is empty if there is nothing to compare: no run of all tokens, or no other run.
    """
    found = {run_id: run for run_id in ids if (run := store.get(run_id)) is not None}
    names = labels(list(found.values()))  # the same labels as in the viewer
    places = {name: place for place, name in enumerate(COMPRESSORS)}
    measured = store.relevance(found, question)
    rows = [
        Row(
            name,
            str(run.compressor["name"]),
            "done",
            run=run,
            run_id=run_id,
            mattered=_kept(measured, run),
        )
        for name, (run_id, run) in zip(names, found.items(), strict=True)
        if run.question.strip() == question
    ]
    rows.sort(key=lambda row: (places.get(row.method, len(places)), _ratio(row)))
    return rows if len(rows) > 1 and rows[0].method == "full" else []


def _kept(measured: Relevance | None, run: Run) -> float:
    if measured is None or measured.grid != run.compression.grid:
        return math.nan
    depth = len(run.cost.visual_tokens_by_layer)
    return measured.kept_over_layers(run.by_layer, depth)["kept"]


def _ratio(row: Row) -> float:
    ratio = row.run.compressor.get("retention_ratio") if row.run else None
    return ratio if isinstance(ratio, float) else 0.0
