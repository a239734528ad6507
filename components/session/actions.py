"""What a page does: generators of plain values that say what changes on it. No widgets."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import torch

from components.session.display import (
    Exchange,
    Message,
    exchange,
    history,
    message,
    progress,
    status,
)
from components.session.engine import Engine, decides_early
from components.session.line import BusyError, Work
from components.session.request import NO_CLIP, Request
from components.viewer.payload import MAX_METHODS, payload
from gleanvid.run import Run
from gleanvid.types import ModelError, StoppedError, Video, VideoError

log = logging.getLogger(__name__)

OUT_OF_MEMORY = (
    "The model ran out of memory. Use fewer frames or a lower retention ratio, then try again."
)
DECIDES_LATE = (
    "This compressor decides while the model reads your question. Ask, and its tokens appear."
)
UNEXPECTED = "Something went wrong while working on this clip. The server's log has the details."
EXCHANGES_SHOWN = 20


@dataclass(frozen=True)
class PageUpdate:
    """What changes on the page; None leaves a part as it is."""

    notice: Message | None = None
    viewer: dict[str, Any] | None = None
    runs: list[str] | None = None  # ids, the one in charge first
    exchanges: list[Exchange] | None = None
    status: list[tuple[str, str]] | None = None
    stoppable: bool = False  # a preview that the person can stop
    done: bool = False


STOPPED = PageUpdate(message("Stopped."), done=True)


def explain(error: Exception) -> str:
    """A sentence for the person. Errors written for people keep their text; others are logged."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return OUT_OF_MEMORY
    if isinstance(error, VideoError | ModelError | ValueError | BusyError):
        return str(error)
    log.error("unexpected failure", exc_info=error)
    return UNEXPECTED


def waiting(engine: Engine, work: Work) -> Iterator[PageUpdate]:
    """Say how many people come first, until ``work`` may use the model."""
    for ahead in engine.line.wait(work):
        people = "1 person comes" if ahead == 1 else f"{ahead} people come"
        text = f"Waiting for the model: {people} before you."
        yield PageUpdate(message(text), status=status(engine))


def preview(
    engine: Engine, request: Request, beside: Sequence[str] = (), session: str | None = None
) -> Iterator[PageUpdate]:
    """Show the tokens of the clip and which are kept, with no question asked.

    A newer preview of the same ``session`` ends this one. ``beside``: ids of runs shown before.
    """
    work = engine.looking(session)
    try:
        yield from _preview(engine, request, beside, work)
    except StoppedError:
        if work.why:  # empty where a newer preview has taken over
            yield PageUpdate(message(work.why))
    except Exception as error:
        yield PageUpdate(message(explain(error), "problem"))
    finally:
        engine.leave(session, work)


def _preview(
    engine: Engine, request: Request, beside: Sequence[str], work: Work
) -> Iterator[PageUpdate]:
    """A clip that is encoded already needs no place in the line: only the choice is made again."""
    if not request.path:
        yield PageUpdate(message(NO_CLIP))
        return
    request.check()
    compressor = request.compressor()
    if not decides_early(compressor):
        yield PageUpdate(message(DECIDES_LATE))
        return
    video = engine.clip(request.path, request.frames, work)
    clip = request.clip(video, compressor.needs)
    encoded = engine.encoded(clip)
    if encoded is None:
        for update in waiting(engine, work):
            yield replace(update, stoppable=True)
        text = f"Encoding {len(video)} frames…"
        yield PageUpdate(progress(engine, request.model, text), stoppable=True)
        encoded = engine.encode(clip, work)
        engine.line.leave(work)
    run = engine.look(clip, encoded, compressor)
    update = show(engine, request, run, encoded, beside)
    if work.stop.is_set():
        raise StoppedError
    yield replace(update, notice=message(used(video, run)))


def ask(
    engine: Engine,
    session: str,
    request: Request,
    question: str,
    exchanges: Sequence[Exchange],
    expected: str | None = None,
    beside: Sequence[str] = (),
    again: bool = False,
) -> Iterator[PageUpdate]:
    """Answer one question: the tokens first, then the answer as it grows, then its cost.

    ``expected``: the right answer where it is known; ``beside``: ids of runs shown before.
    ``again``: replace the last exchange, which stays where no new answer comes.
    """
    work = engine.work(session)
    before: list[Exchange] = [{**item, "running": False} for item in exchanges[-EXCHANGES_SHOWN:]]
    earlier = before[:-1] if again else before
    try:
        if text := request.missing(question):
            yield PageUpdate(message(text, "problem"), done=True)
            return
        yield from _ask(engine, request, question, earlier, expected, beside, work)
    except StoppedError:
        yield PageUpdate(message(work.why), exchanges=before, done=True)
    except Exception as error:
        yield PageUpdate(message(explain(error), "problem"), exchanges=before, done=True)
    finally:
        engine.leave(session, work)


def _ask(
    engine: Engine,
    request: Request,
    question: str,
    earlier: list[Exchange],
    expected: str | None,
    beside: Sequence[str],
    work: Work,
) -> Iterator[PageUpdate]:
    request.check()
    compressor = request.compressor()
    yield PageUpdate(progress(engine, request.model, "Reading the clip…"))
    video = engine.clip(str(request.path), request.frames, work)
    clip = request.clip(video, compressor.needs)
    yield from waiting(engine, work)
    text = f"Encoding {len(video)} frames…"
    yield PageUpdate(progress(engine, request.model, text), status=status(engine))
    encoded = engine.encode(clip, work)
    early = PageUpdate()
    if decides_early(compressor):
        run = engine.look(clip, encoded, compressor)
        early = show(engine, request, run, encoded, beside)
    if work.stop.is_set():  # nothing is begun that would only be ended
        raise StoppedError
    running = [*earlier, exchange(question, "", running=True)]
    yield replace(early, notice=message("Answering…"), exchanges=running)
    sampling = request.checked_sampling()
    answers = engine.answer(clip, question, compressor, sampling, work, history(earlier))
    with closing(answers):  # type: ignore[type-var]  # a generator; closing it frees the model
        for item in answers:
            if isinstance(item, str):
                running = [*earlier, exchange(question, item, running=True)]
                yield PageUpdate(exchanges=running)
                continue
            engine.line.leave(work)
            update = show(engine, request, item, encoded, beside)
            run_id = (update.runs or [""])[0]
            last = exchange(question, item.answer, item, expected, run_id=run_id)
            notice = message(work.why or used(video, item))
            yield replace(update, notice=notice, exchanges=[*earlier, last], done=True)


def show(
    engine: Engine, request: Request, run: Run, encoded: Any, beside: Sequence[str] = ()
) -> PageUpdate:
    """Store the run, and show it next to those it can be compared with."""
    others = comparable(engine, run, beside)
    viewer = payload([run, *others.values()], tokens=encoded.tokens)
    ids = [engine.runs.add(run, request.path), *others]
    return PageUpdate(viewer=viewer | {"runs": ids}, runs=ids, status=status(engine, run))


def comparable(engine: Engine, run: Run, ids: Sequence[str]) -> dict[str, Run]:
    """Runs of the same clip under other settings, by id: answered ones and the last preview."""
    found: dict[str, Run] = {}
    previews = 0
    for run_id in ids:
        other = engine.runs.get(run_id)
        if other is None or other.video is not run.video or other.compressor == run.compressor:
            continue
        if other.compression.grid != run.compression.grid:
            continue
        previews += not other.question
        if other.question or previews == 1:
            found[run_id] = other
    return dict(list(found.items())[: MAX_METHODS - 1])


def used(video: Video, run: Run) -> str:
    """What of the clip was used, with the notes of the video reader."""
    record = run.compression
    tokens = f"{record.num_kept:,} of {record.num_tokens:,} visual tokens kept"
    return sampled(video, tokens)


def sampled(video: Video, tokens: str) -> str:
    """Frames, seconds and ``tokens``, in words, and the notes of the video reader."""
    frames = f"{len(video)} of {video.total_frames:,} frames from {video.duration:.1f} s"
    return " ".join([f"Used {frames}: {tokens}.", *video.notes])
