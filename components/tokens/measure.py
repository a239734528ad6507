"""Measure which tokens matter for the answer with all tokens (the view "What mattered")."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run

from ..jobs.display import PageUpdate, message, status
from ..jobs.engine import Engine
from ..jobs.job import Job
from ..jobs.request import Request, Sides
from ..viewer.payload import MAX_METHODS
from .preview import find_run, pair, view_of


def measure(engine: Engine, session: str, request: Request, sides: Sides) -> Iterator[PageUpdate]:
    """Measure how relevant each token is for the answer with all tokens, and show it.

    If no run in the viewer has that answer, the question is first asked with all tokens.
    """
    job = Job(engine, session, request)
    yield from job.run(_measured(job, sides), lambda notice: PageUpdate(notice, done=True))


def _measured(job: Job, sides: Sides) -> Iterator[PageUpdate]:
    engine, request = job.engine, job.request
    request.check(sides.question)
    engine.pages.end_preview(str(job.session), version=sides.version)
    yield from map(PageUpdate, job.reading())
    video = engine.clip(str(request.path), request.sampled)
    clip = request.clip(video)
    yield from job.waiting()
    yield job.encoding(video)
    tokens = job.encode(clip).tokens
    run_id, run = yield from _whole_answer(job, clip, sides)
    yield PageUpdate(message(f"Measuring what mattered for “{run.answer}”…"))
    found = engine.relevance(clip, sides.question, run.answer, job.work)
    engine.runs.add_relevance(run_id, found)
    engine.queue.leave(job.work)
    ids = list(dict.fromkeys([*sides.runs[: MAX_METHODS - 1], run_id]))
    runs = engine.runs.of_clip(clip, ids)
    view = view_of(engine, runs, sides, pair(len(runs)), tokens, request.path, request.example)
    said = f"What mattered for “{run.answer}”: measured in {found.seconds:.1f} s."
    yield PageUpdate(
        message(said), view.value, view.answers, view.runs, status=status(engine, run), done=True
    )


def _whole_answer(
    job: Job, clip: ClipKey, sides: Sides
) -> Generator[PageUpdate, Any, tuple[str, Run]]:
    """Return the id and run of the answer with all tokens; ask for it if there is none."""
    engine, request = job.engine, job.request
    if known := find_run(engine, clip, FullTokens(), sides, answered=True):
        return known
    yield PageUpdate(message("Answering with all tokens…"))
    run = engine.run(clip, sides.question, FullTokens(), request.checked_sampling(), job.work)
    return engine.runs.add(run, request.path, request.example), run
