"""Show which tokens are kept, without asking a question (a preview).

The viewer has two sides. B shows a run with the settings of the page. A shows its baseline, a run
with all tokens until the user pins other settings there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gleanvid.compressors.base import Compressor
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run
from gleanvid.types import StoppedError, VideoTokens

from ..jobs import display
from ..jobs.backend import EncodedClip
from ..jobs.display import Message, PageUpdate, message, status, unmeasured
from ..jobs.engine import Engine, decides_early
from ..jobs.examples import Example
from ..jobs.job import Job
from ..jobs.methods import can_answer
from ..jobs.queue import Work
from ..jobs.request import NO_CLIP, Request, Sides
from ..jobs.store import RunStore
from ..viewer.payload import MAX_METHODS, payload
from ..viewer.values import Clip
from .answers import Answer, answers

BEFORE = "These tokens belong to the previous settings."
STOPPED = f"{Work.BY_HAND} To go on, press the clip's picture or change a setting."
NO_ANSWER = "No answer yet: press Ask, or open a saved run (Export and API)."
WAITING = "Waiting for the model…"
DECIDES_LATE = "This compressor chooses tokens while the model answers. Press Ask to see them."


@dataclass(frozen=True)
class View:
    """Content of the viewer; ``runs``: ids of the run on side B, that on side A, then others."""

    runs: list[str]
    value: Clip
    answers: list[Answer]


def preview(
    engine: Engine, request: Request, sides: Sides, session: str | None = None
) -> Iterator[PageUpdate]:
    """Show which tokens the page's settings (B) and the baseline (A) keep; asks no question.

    A newer preview of the same ``session`` (an open page) ends this one.
    """
    work = engine.pages.begin_preview(session, sides.version)
    if work is None:
        return
    job = Job(engine, session, request, begun=work)
    before = BEFORE if sides.runs else ""

    def last(notice: Message) -> PageUpdate:
        now = status(engine) if notice["kind"] == "problem" else None
        return PageUpdate(notice, pending=before, status=now)

    yield from job.run(_until_stopped(job, _preview(job, sides)), last, STOPPED)


def _until_stopped(job: Job, updates: Iterator[PageUpdate]) -> Iterator[PageUpdate]:
    """Yield nothing once the job is stopped: a newer preview may have shown its own tokens."""
    for update in updates:
        if job.work.stop.is_set():
            raise StoppedError
        yield update


def is_at_hand(engine: Engine, request: Request, sides: Sides) -> bool:
    """Whether a preview is shown at once, because the clip is already read and encoded.

    Also True if the preview only shows a message, such as an error.
    """
    try:
        compressor = request.make_compressor()
        request.check()
    except ValueError:
        return True  # the preview will show the error at once
    if not request.path or not decides_early(compressor):
        return True
    if not engine.has_clip(request.path, request.sampled):
        return False
    video = engine.clip(request.path, request.sampled)
    clip = request.clip(video, compressor.needs | sides.reference.needs)
    return engine.encoded(clip) is not None


def _preview(job: Job, sides: Sides) -> Iterator[PageUpdate]:
    """Show the kept tokens; wait in the model queue only if the clip is not encoded yet."""
    engine, request = job.engine, job.request
    if not request.path:
        yield PageUpdate(message(NO_CLIP))
        return
    request.check()
    compressor = request.make_compressor()
    if not decides_early(compressor):
        yield PageUpdate(message(DECIDES_LATE), pending=BEFORE if sides.runs else "")
        return
    if not engine.has_clip(request.path, request.sampled):
        for notice in job.reading():
            yield PageUpdate(notice, pending=notice["text"], stoppable=True)
    video = engine.clip(request.path, request.sampled, job.work)
    clip = request.clip(video, compressor.needs | sides.reference.needs)
    encoded = engine.encoded(clip)
    if encoded is None:
        for update in job.waiting():
            yield replace(update, pending=WAITING, stoppable=True)
        begun = job.encoding(video)
        yield replace(begun, pending=begun.notice and begun.notice["text"], stoppable=True)
        encoded = job.encode(clip)
        engine.queue.leave(job.work)
    run_id, run = find_run(engine, clip, compressor, sides) or ("", None)
    if run is None:
        run = engine.compress(clip, encoded, compressor)
    view = view_both(engine, request, run, encoded, sides, run_id)
    used = display.used(video, run.compression.grid[0])
    if can_answer(request.model) and not view.answers:
        used = f"{used} {NO_ANSWER}"
    yield replace(update_of(engine, view, run), notice=message(used))


def view_both(
    engine: Engine, request: Request, run: Run, encoded: EncodedClip, sides: Sides, run_id: str = ""
) -> View:
    """Return the viewer's content with ``run`` as B, beside the baseline A.

    Earlier runs of the same clip are there to choose from. ``run_id``: id of ``run``, if it is
    stored already.
    """
    clip = request.clip(run.video)
    run_id = run_id or engine.runs.add(run, request.path, request.example)
    sides = replace(sides, runs=[run_id, *sides.runs])
    baseline = _baseline(engine, request, clip, encoded, sides)
    runs = with_earlier(engine.runs, clip, {run_id: run} | dict(baseline), sides.runs)
    a = list(runs).index(baseline[0][0]) if baseline else 0
    order = (a, 0 if baseline else None)
    return view_of(engine, runs, sides, order, encoded.tokens, request.path, request.example)


def view_of(
    engine: Engine,
    runs: Mapping[str, Run],
    sides: Sides,
    order: tuple[int, int | None],
    tokens: VideoTokens | None,
    path: str | None,
    example: Example | None,
) -> View:
    """Return the viewer's content for ``runs``, by id; ``order``: indices of the runs A and B.

    None leaves out what ``tokens``, ``path`` (the video) or ``example`` (its answers) would add.
    """
    ids, facts = list(runs), example and example.facts
    question, model = sides.question, next(iter(runs.values())).model
    value = payload(
        list(runs.values()),
        *order,
        tokens,
        source=path,
        facts=facts,
        question=question,
        relevance=engine.runs.relevance(ids, question),
    )
    value |= {"runs": ids, "unmeasured": unmeasured(model)}
    return View(ids, value, answers(engine.runs, replace(sides, runs=ids)))


def with_earlier(
    store: RunStore, clip: ClipKey, runs: Mapping[str, Run], earlier: Sequence[str]
) -> dict[str, Run]:
    """Add earlier runs of the clip to ``runs``, as many as the viewer can hold.

    Leaves out runs without a question, and runs with the same settings, question and answer as
    another one.
    """
    found = dict(runs)
    contents = [_content(run) for run in runs.values()]
    for run_id, run in store.of_clip(clip, earlier).items():
        if run.question and len(found) < MAX_METHODS and _content(run) not in contents:
            found[run_id] = run
            contents.append(_content(run))
    return found


def _content(run: Run) -> tuple[Any, ...]:
    return run.compressor, run.question, run.answer


def update_of(engine: Engine, view: View, run: Run) -> PageUpdate:
    """Return the page update that puts ``view`` into the viewer; ``run``: the run on side B."""
    return PageUpdate(
        viewer=view.value, answers=view.answers, runs=view.runs, status=status(engine, run)
    )


def _baseline(
    engine: Engine, request: Request, clip: ClipKey, encoded: EncodedClip, sides: Sides
) -> list[tuple[str, Run]]:
    """Return a list with the id and the run of A, found in the viewer or computed now.

    It is empty before the answer if A's compressor chooses tokens only while the model answers.
    """
    compressor = sides.reference
    if known := find_run(engine, clip, compressor, sides):
        return [known]
    if not decides_early(compressor):
        return []
    run = engine.compress(clip, encoded, compressor)
    return [(engine.runs.add(run, request.path, request.example), run)]


def find_run(
    engine: Engine, clip: ClipKey, compressor: Compressor, sides: Sides, answered: bool = False
) -> tuple[str, Run] | None:
    """Find a run of this clip and compressor among the viewer's runs; return its id and the run.

    Prefers a run that answered the page's question; with ``answered``, accepts only such a run.
    """
    settings = compressor.settings()
    same = [
        (run_id, run)
        for run_id, run in engine.runs.of_clip(clip, sides.runs).items()
        if run.compressor == settings
    ]
    exact = [pair for pair in same if sides.are_answered_by(pair[1])]
    return next(iter(exact if answered else [*exact, *same]), None)


def pair(count: int) -> tuple[int, int | None]:
    """Return the indices of the runs A and B in a list of ``count`` runs that has B first, then A.

    A single run is shown as A, and B is None.
    """
    return (1, 0) if count > 1 else (0, None)
