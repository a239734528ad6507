"""What the page does: generator functions of plain values that yield what to show. No widgets."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import torch

from components.engine import Engine, decides_early
from components.talk import message, turn
from components.viewer import pack, publish
from gleanvid.compressors.base import Compressor
from gleanvid.run import Run
from gleanvid.types import ModelError, Video, VideoError

log = logging.getLogger(__name__)

NO_CLIP = "Choose a clip first: upload one, or take an example."
NO_QUESTION = "Type a question first."
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
class Request:
    """What a page asks for. ``compressor`` is made when used, so a bad setting is reported here."""

    path: str | None
    frames: int
    model: str
    compressor: Callable[[], Compressor]


@dataclass(frozen=True)
class Shown:
    """What changes on the page; None leaves a part as it is."""

    notice: dict[str, str] | None = None
    viewer: dict[str, Any] | None = None
    run_id: str | None = None
    turns: Turns | None = None
    done: bool = False


STOPPED = Shown(message("Stopped."), done=True)


def explain(error: Exception) -> str:
    """A sentence for the person. Only errors made for people speak for themselves."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return OUT_OF_MEMORY
    if isinstance(error, VideoError | ModelError | ValueError):
        return str(error)
    log.error("unexpected failure", exc_info=error)
    return UNEXPECTED


def look(engine: Engine, request: Request) -> Iterator[Shown]:
    """Show the tokens of the clip and which are kept, with no question asked."""
    if not request.path:
        yield Shown(message(NO_CLIP))
        return
    try:
        compressor = request.compressor()
        if not decides_early(compressor):
            yield Shown(message(DECIDES_LATE))
            return
        yield Shown(message("Reading and encoding the clip…"))
        video = engine.clip(request.path, request.frames)
        run = engine.look(video, request.model, compressor)
        yield replace(_show(engine, run), notice=message(_used(video, run)))
    except Exception as error:
        yield Shown(message(explain(error), "problem"))


def ask(
    engine: Engine, session: str, request: Request, question: str, turns: Turns
) -> Iterator[Shown]:
    """Answer one question: the tokens first, then the answer as it grows, then its cost."""
    flag = engine.flag(session)
    earlier = [item | {"running": False} for item in turns[-TURNS_SHOWN:]]
    try:
        if not request.path or not question.strip():
            text = NO_QUESTION if request.path else NO_CLIP
            yield Shown(message(text, "problem"), done=True)
            return
        compressor = request.compressor()
        yield Shown(message("Reading and encoding the clip…"))
        video = engine.clip(request.path, request.frames)
        early = Shown()
        if decides_early(compressor):
            early = _show(engine, engine.look(video, request.model, compressor))
        yield replace(
            early,
            notice=message("Answering…"),
            turns=[*earlier, turn(question, "", running=True)],
        )
        answers = engine.answer(video, question, request.model, compressor, flag)
        with closing(answers):  # type: ignore[type-var]  # a generator; closing it frees the model
            for item in answers:
                if isinstance(item, str):
                    yield Shown(turns=[*earlier, turn(question, item, running=True)])
                    continue
                note = "Stopped." if flag.is_set() else _used(video, item)
                yield replace(
                    _show(engine, item),
                    notice=message(note),
                    turns=[*earlier, turn(question, item.answer, item.cost)],
                    done=True,
                )
    except Exception as error:
        yield Shown(message(explain(error), "problem"), done=True)
    finally:
        engine.stop(session)


def _show(engine: Engine, run: Run) -> Shown:
    return Shown(viewer=publish(pack(run)), run_id=engine.runs.add(run))


def _used(video: Video, run: Run) -> str:
    """What of the clip was really used, with whatever the reader had to say about it."""
    record = run.compression
    sentence = (
        f"Used {len(video)} of {video.total_frames:,} frames from {video.duration:.1f} s: "
        f"{record.num_kept:,} of {record.num_tokens:,} visual tokens kept."
    )
    return " ".join([sentence, *video.notes])
