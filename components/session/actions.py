"""What the page does: generator functions of plain values that yield what to show. No widgets."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import torch

from components.panels import status
from components.panels.talk import history, message, turn
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
TURNS_SHOWN = 20

Turns = list[dict[str, Any]]


@dataclass(frozen=True)
class Shown:
    """What changes on the page; None leaves a part as it is."""

    notice: dict[str, str] | None = None
    viewer: dict[str, Any] | None = None
    runs: list[str] | None = None  # ids, the one in charge first
    turns: Turns | None = None
    status: list[tuple[str, str]] | None = None
    stoppable: bool = False  # a look that the person can stop
    done: bool = False


STOPPED = Shown(message("Stopped."), done=True)


def explain(error: Exception) -> str:
    """A sentence for the person. Only errors made for people speak for themselves."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return OUT_OF_MEMORY
    if isinstance(error, VideoError | ModelError | ValueError | BusyError):
        return str(error)
    log.error("unexpected failure", exc_info=error)
    return UNEXPECTED


def waiting(engine: Engine, work: Work) -> Iterator[Shown]:
    """Say how many come first until it is the turn of ``work``."""
    for ahead in engine.line.wait(work):
        people = "1 person comes" if ahead == 1 else f"{ahead} people come"
        text = f"Waiting for the model: {people} before you."
        yield Shown(message(text), status=status.pairs(engine))


def look(
    engine: Engine, request: Request, beside: Sequence[str] = (), session: str | None = None
) -> Iterator[Shown]:
    """Show the tokens of the clip and which are kept, with no question asked.

    A clip that is encoded already takes no turn in the line: only its tokens are chosen again.
    ``beside``: ids of runs that were on show before. A newer look of the same ``session`` ends
    this one.
    """
    work = engine.looking(session)
    try:
        if not request.path:
            yield Shown(message(NO_CLIP))
            return
        request.check()
        compressor = request.compressor()
        if not decides_early(compressor):
            yield Shown(message(DECIDES_LATE))
            return
        video = engine.clip(request.path, request.frames)
        needs, pixels = compressor.needs, request.max_pixels(video)
        encoded = engine.encoded(video, request.model, needs, pixels)
        if encoded is None:
            for ahead in waiting(engine, work):
                yield replace(ahead, stoppable=True)
            yield Shown(message(f"Encoding {len(video)} frames…"), stoppable=True)
            encoded = engine.encode(video, request.model, needs, pixels, work)
            engine.line.leave(work)
        run = engine.look(encoded, request.model, compressor)
        shown = show(engine, request, run, encoded, beside)
        if work.stop.is_set():
            raise StoppedError
        yield replace(shown, notice=message(used(video, run)))
    except StoppedError:
        if work.why:  # else a newer look has the word
            yield Shown(message(work.why))
    except Exception as error:
        yield Shown(message(explain(error), "problem"))
    finally:
        engine.leave(session, work)


def ask(
    engine: Engine,
    session: str,
    request: Request,
    question: str,
    turns: Turns,
    expected: str | None = None,
    beside: Sequence[str] = (),
    again: bool = False,
) -> Iterator[Shown]:
    """Answer one question: the tokens first, then the answer as it grows, then its cost.

    ``expected``: the right answer where it is known; ``beside``: ids of runs on show before.
    ``again``: in place of the last turn, which stays where there is no new answer.
    """
    work = engine.work(session)
    before = [item | {"running": False} for item in turns[-TURNS_SHOWN:]]
    earlier = before[:-1] if again else before
    try:
        if text := request.missing(question):
            yield Shown(message(text, "problem"), done=True)
            return
        request.check()
        compressor = request.compressor()
        yield Shown(message("Reading the clip…"))
        video = engine.clip(str(request.path), request.frames)
        pixels = request.max_pixels(video)
        yield from waiting(engine, work)
        yield Shown(message(f"Encoding {len(video)} frames…"), status=status.pairs(engine))
        encoded = engine.encode(video, request.model, compressor.needs, pixels, work)
        early = Shown()
        if decides_early(compressor):
            run = engine.look(encoded, request.model, compressor)
            early = show(engine, request, run, encoded, beside)
        if work.stop.is_set():  # nothing is begun that would only be ended
            raise StoppedError
        yield replace(
            early,
            notice=message("Answering…"),
            turns=[*earlier, turn(question, "", running=True)],
        )
        options = dict(request.sampling, max_pixels=pixels, history=history(earlier))
        answers = engine.answer(video, question, request.model, compressor, work, options)
        with closing(answers):  # type: ignore[type-var]  # a generator; closing it frees the model
            for item in answers:
                if isinstance(item, str):
                    yield Shown(turns=[*earlier, turn(question, item, running=True)])
                    continue
                engine.line.leave(work)
                shown = show(engine, request, item, encoded, beside)
                last = turn(question, item.answer, item, expected, run_id=(shown.runs or [""])[0])
                notice = message(work.why or used(video, item))
                yield replace(shown, notice=notice, turns=[*earlier, last], done=True)
    except StoppedError:
        yield Shown(message(work.why), turns=before, done=True)
    except Exception as error:
        yield Shown(message(explain(error), "problem"), turns=before, done=True)
    finally:
        engine.leave(session, work)


def show(
    engine: Engine, request: Request, run: Run, encoded: Any, beside: Sequence[str] = ()
) -> Shown:
    """The run in the store and in the viewer, next to those it can be held against there."""
    others = comparable(engine, run, beside)
    viewer = payload([run, *others.values()], tokens=encoded.tokens)
    ids = [engine.runs.add(run, request.path), *others]
    return Shown(viewer=viewer | {"runs": ids}, runs=ids, status=status.pairs(engine, run))


def comparable(engine: Engine, run: Run, ids: Sequence[str]) -> dict[str, Run]:
    """Runs of the same clip under other settings by id: answered ones, and the look before."""
    found: dict[str, Run] = {}
    looks = 0
    for run_id in ids:
        other = engine.runs.get(run_id)
        if other is None or other.video is not run.video or other.compressor == run.compressor:
            continue
        if other.compression.grid != run.compression.grid:
            continue
        looks += not other.question
        if other.question or looks == 1:
            found[run_id] = other
    return dict(list(found.items())[: MAX_METHODS - 1])


def used(video: Video, run: Run) -> str:
    """What of the clip was really used, with whatever the reader had to say about it."""
    record = run.compression
    tokens = f"{record.num_kept:,} of {record.num_tokens:,} visual tokens kept"
    return sampled(video, tokens)


def sampled(video: Video, tokens: str) -> str:
    """Frames, seconds and ``tokens``, in words, and the notes of the reader."""
    frames = f"{len(video)} of {video.total_frames:,} frames from {video.duration:.1f} s"
    return " ".join([f"Used {frames}: {tokens}.", *video.notes])
