"""Measure which tokens matter for the answer with all tokens (the view "What mattered")."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run
from gleanvid.types import StoppedError

from ...viewer.payload import MAX_METHODS
from .. import display
from ..display import PageUpdate, explain, message, progress, status
from ..request import Request, Sides
from ..work.engine import Engine
from ..work.queue import Work
from .preview import find_run, pair, view_of


def measure(engine: Engine, session: str, request: Request, sides: Sides) -> Iterator[PageUpdate]:
    """Measure how relevant each token is for the answer with all tokens, and show it.

    If no run in the viewer has that answer, the question is first asked with all tokens.
    """
    engine.pages.end_preview(session, version=sides.version)
    work = engine.pages.work(session)
    try:
        yield from _measured(engine, request, sides, work)
    except StoppedError:
        yield PageUpdate(message(work.why), done=True)
    except Exception as error:
        yield PageUpdate(message(explain(error), "problem"), done=True)
    finally:
        engine.pages.leave(session, work)


def _measured(engine: Engine, request: Request, sides: Sides, work: Work) -> Iterator[PageUpdate]:
    if text := request.missing(sides.question):
        yield PageUpdate(message(text, "problem"), done=True)
        return
    request.check()
    yield PageUpdate(progress(engine, request.model, display.READING))
    video = engine.clip(str(request.path), request.sampled, work)
    clip = request.clip(video)
    yield from display.waiting(engine, work)
    frames = display.count_of(len(video), "frame")
    yield PageUpdate(progress(engine, request.model, f"Encoding {frames}…"), status=status(engine))
    tokens = engine.encode(clip, work).tokens
    run_id, run = yield from _whole_answer(engine, request, clip, sides, work)
    yield PageUpdate(message(f"Measuring what mattered for “{run.answer}”…"))
    found = engine.relevance(clip, sides.question, run.answer, work)
    engine.runs.add_relevance(run_id, found)
    engine.queue.leave(work)
    ids = list(dict.fromkeys([*sides.runs[: MAX_METHODS - 1], run_id]))
    runs = engine.runs.of_clip(clip, ids)
    view = view_of(engine, runs, sides, pair(len(runs)), tokens, request.path, request.example)
    said = f"What mattered for “{run.answer}”: measured in {found.seconds:.1f} s."
    yield PageUpdate(
        message(said), view.value, view.answers, view.runs, status=status(engine, run), done=True
    )


def _whole_answer(
    engine: Engine, request: Request, clip: ClipKey, sides: Sides, work: Work
) -> Generator[PageUpdate, Any, tuple[str, Run]]:
    """Return the id and run of the answer with all tokens; ask for it if there is none.

    An answer in a conversation does not count, because it also depends on the earlier turns.
    """
    known = find_run(engine, clip, FullTokens(), sides, answered=True)
    if known and not known[1].made_with.get("earlier_turns"):
        return known
    yield PageUpdate(message("Answering with all tokens…"))
    run = engine.run(clip, sides.question, FullTokens(), request.checked_sampling(), work)
    return engine.runs.add(run, request.path, request.example), run
