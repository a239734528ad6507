"""The two sides of the viewer: B has the settings of the page, A is what it is held against.

A is all tokens until a person pins something else. Runs go by their ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gleanvid.compressors.base import Compressor
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run
from gleanvid.types import StoppedError

from ...viewer.payload import MAX_METHODS, payload
from ...viewer.values import Clip
from ..display import Answer, answer, caveat, count_of, message, progress, status, used
from ..request import NO_CLIP, Request, Sides
from ..updates import PageUpdate, explain, waiting
from ..work.backend import EncodedClip
from ..work.engine import Engine, decides_early
from ..work.queue import Work
from ..work.store import RunStore

BEFORE = "These are the tokens of the settings before."
WAITING = "Waiting for the model…"
DECIDES_LATE = "This compressor chooses while the model answers: ask, and its tokens appear."


@dataclass(frozen=True)
class View:
    """What the viewer shows; ``runs``: ids in the order of :class:`Sides`."""

    runs: list[str]
    value: Clip
    answers: list[Answer]


def preview(
    engine: Engine, request: Request, sides: Sides, session: str | None = None
) -> Iterator[PageUpdate]:
    """Show the tokens of the clip and which are kept; nothing is asked.

    A newer preview of the same ``session`` ends this one.
    """
    work = engine.pages.begin_preview(session, sides.version)
    if work is None:
        return
    try:
        for update in _preview(engine, request, sides, work):
            if work.stop.is_set():  # what a newer preview has shown stays
                raise StoppedError
            yield update
    except StoppedError:
        if work.why:  # empty where a newer preview has taken over
            yield PageUpdate(message(work.why), pending=BEFORE)
    except Exception as error:
        problem = message(explain(error), "problem")
        pending = BEFORE if sides.runs else ""
        yield PageUpdate(problem, pending=pending, status=status(engine))
    finally:
        engine.pages.leave(session, work)


def is_at_hand(engine: Engine, request: Request, sides: Sides) -> bool:
    """Whether a preview is one update: nothing has to be read or encoded first."""
    try:
        compressor = request.compressor()
        request.check()
    except ValueError:
        return True  # the update says why
    if not request.path or not decides_early(compressor):
        return True
    if not engine.has_clip(request.path, request.frames):
        return False
    video = engine.clip(request.path, request.frames)
    clip = request.clip(video, compressor.needs | sides.reference.needs)
    return engine.encoded(clip) is not None


def _preview(engine: Engine, request: Request, sides: Sides, work: Work) -> Iterator[PageUpdate]:
    """A clip that is encoded already needs no place in the line: only the choice is made again."""
    if not request.path:
        yield PageUpdate(message(NO_CLIP))
        return
    request.check()
    compressor = request.compressor()
    if not decides_early(compressor):
        yield PageUpdate(message(DECIDES_LATE), pending=BEFORE)
        return
    if not engine.has_clip(request.path, request.frames):
        notice = progress(engine, request.model, "Reading the clip…")
        yield PageUpdate(notice, pending=notice["text"])
    video = engine.clip(request.path, request.frames, work)
    clip = request.clip(video, compressor.needs | sides.reference.needs)
    encoded = engine.encoded(clip)
    if encoded is None:
        for update in waiting(engine, work):
            yield replace(update, pending=WAITING, stoppable=True)
        text = f"Encoding {count_of(len(video), 'frame')}…"
        notice = progress(engine, request.model, text)
        yield PageUpdate(notice, pending=notice["text"], stoppable=True)
        encoded = engine.encode(clip, work)
        engine.line.leave(work)
    run_id, run = stored(engine, clip, compressor, sides) or ("", None)
    if run is None:
        run = engine.compress(clip, encoded, compressor)
    seen = view(engine, request, run, encoded, sides, run_id)
    yield replace(update_of(engine, seen, run), notice=message(used(video)))


def view(
    engine: Engine, request: Request, run: Run, encoded: EncodedClip, sides: Sides, run_id: str = ""
) -> View:
    """``run`` as B beside A, with what was asked of the same clip before to choose from.

    ``run_id``: its id, where it is stored already.
    """
    clip = request.clip(run.video)
    first = run_id or engine.runs.add(run, request.path, request.example)
    reference = _reference(
        engine, request, clip, encoded, replace(sides, runs=[first, *sides.runs])
    )
    found = {first: run} | ({reference[0]: reference[1]} if reference else {})
    found = with_earlier(engine.runs, clip, found, sides.runs)
    ids = list(found)
    a, b = (ids.index(reference[0]), 0) if reference else (0, None)
    value = payload(
        list(found.values()),
        a,
        b,
        encoded.tokens,
        source=request.path,
        facts=request.example and request.example.facts,
        question=sides.question,
    )
    value["runs"] = ids
    return View(ids, value, answers(engine.runs, replace(sides, runs=ids)))


def with_earlier(
    store: RunStore, clip: ClipKey, runs: Mapping[str, Run], earlier: Sequence[str]
) -> dict[str, Run]:
    """``runs``, then what was asked of the clip before, as much as the viewer takes.

    A run that says the same as one of them (settings, question and answer) is left out, and so is
    one without a question.
    """
    found = dict(runs)
    said = [_said(run) for run in runs.values()]
    for run_id, run in store.of_clip(clip, earlier).items():
        if run.question and len(found) < MAX_METHODS and _said(run) not in said:
            found[run_id] = run
            said.append(_said(run))
    return found


def _said(run: Run) -> tuple[Any, ...]:
    return run.compressor, run.question, run.answer


def update_of(engine: Engine, seen: View, run: Run) -> PageUpdate:
    """``run`` is B."""
    return PageUpdate(
        viewer=seen.value, answers=seen.answers, runs=seen.runs, status=status(engine, run)
    )


def _reference(
    engine: Engine, request: Request, clip: ClipKey, encoded: EncodedClip, sides: Sides
) -> tuple[str, Run] | None:
    """The run of A: one that answered the question, else any of its settings, else a new one.

    None for a method that chooses inside the model and has not been asked yet.
    """
    compressor = sides.reference
    known = stored(engine, clip, compressor, sides)
    if known is not None:
        return known
    if not decides_early(compressor):
        return None
    run = engine.compress(clip, encoded, compressor)
    return engine.runs.add(run, request.path, request.example), run


def stored(
    engine: Engine, clip: ClipKey, compressor: Compressor, sides: Sides, answered: bool = False
) -> tuple[str, Run] | None:
    """A run on show of this clip and compressor, with its id.

    One that answered the question of the page is preferred; with ``answered``, no other will do.
    """
    settings = compressor.settings()
    same = [
        (run_id, run)
        for run_id, run in engine.runs.of_clip(clip, sides.runs).items()
        if run.compressor == settings
    ]
    exact = [pair for pair in same if sides.are_answered_by(pair[1])]
    return next(iter(exact if answered else [*exact, *same]), None)


def answers(store: RunStore, sides: Sides) -> list[Answer]:
    """What the runs of the viewer answered.

    A side whose run has no answer shows the last one of its method, as out of date.
    """
    runs = {run_id: run for run_id in sides.runs if (run := store.get(run_id))}
    found = [_answer(store, run_id, run, sides, None) for run_id, run in runs.items()]
    for side, (_run_id, run) in zip("ba", runs.items(), strict=False):
        if run.question:
            continue
        method = run.compressor.get("name")
        earlier = (
            _answer(store, other_id, other, sides, side)
            for other_id, other in runs.items()
            if other.compressor.get("name") == method
        )
        found.append(next(filter(None, earlier), None))
    return [item for item in found if item]


def _answer(
    store: RunStore, run_id: str, run: Run, sides: Sides, side: str | None
) -> Answer | None:
    if not run.question:
        return None
    example = store.example(run_id)
    return answer(
        run.answer,
        run_id,
        side,
        run=run,
        expected=example.expected(run.question) if example else None,
        stale=not sides.are_answered_by(run),
        caveat=caveat(example, run.model),
        model=run.model if sides.model not in ("", run.model) else "",
    )


def pair(count: int) -> tuple[int, int | None]:
    """Places of A and B among so many runs in the order of :class:`Sides`."""
    return (1, 0) if count > 1 else (0, None)
