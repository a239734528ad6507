"""The runs of a comparison in the viewer, and the runs of the viewer as rows of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from gleanvid.compressors import COMPRESSORS
from gleanvid.models.encoded import ClipKey
from gleanvid.plots.labels import labels
from gleanvid.run import Run

from ...viewer.payload import MAX_METHODS
from ..request import Request, Sides
from ..work.engine import Engine
from ..work.store import RunStore
from .preview import View, find_run, pair, view_of, with_earlier
from .rows import Row


def compared_view(
    engine: Engine, request: Request, sides: Sides, clip: ClipKey, new: Mapping[str, Run]
) -> tuple[View, dict[str, Run]]:
    """Return the viewer with as many runs as it takes, and all runs by id.

    A and B stay, where there is a run of them: a comparison moves no slider.
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


def _in_order(runs: Mapping[str, Run], request: Request, question: str) -> dict[str, Run]:
    """Sort as `Sides` does: B, then A, which is the first, then the others.

    B has the settings of the page if that was asked the question, else the first method.
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

    Empty where there is nothing to compare: without a run of all tokens, or with that alone.
    """
    found = {run_id: run for run_id in ids if (run := store.get(run_id)) is not None}
    names = labels(list(found.values()))  # as the viewer calls them
    places = {name: place for place, name in enumerate(COMPRESSORS)}
    rows = [
        Row(name, str(run.compressor["name"]), "done", run=run, run_id=run_id)
        for name, (run_id, run) in zip(names, found.items(), strict=True)
        if run.question.strip() == question
    ]
    rows.sort(key=lambda row: (places.get(row.method, len(places)), _ratio(row)))
    return rows if len(rows) > 1 and rows[0].method == "full" else []


def _ratio(row: Row) -> float:
    ratio = row.run.compressor.get("retention_ratio") if row.run else None
    return ratio if isinstance(ratio, float) else 0.0
