"""A question to both sides of the page: B first, as it is the quicker one, then A."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import Any

from gleanvid.compressors.base import Compressor
from gleanvid.run import Run
from gleanvid.types import StoppedError

from ..display import (
    Exchange,
    answer,
    caveat,
    count_of,
    history,
    message,
    progress,
    status,
    used,
)
from ..request import Request, Sides
from ..updates import PageUpdate, explain, waiting
from ..work.backend import EncodedClip
from ..work.engine import Engine, decides_early
from ..work.local import BUILT_IN
from ..work.queue import Work
from .preview import answers, stored, update_of, view

PAUSE_S = 0.15  # of a moving slider, before a question is worth asking
LIVE_S = 2.0  # a model that takes longer for an answer is asked by hand only
EXCHANGES_HELD = 20


@dataclass(frozen=True)
class Habits:
    """How a page asks. ``both``: A, too; ``remember``: with the exchanges before."""

    both: bool = True
    remember: bool = False


def ask(
    engine: Engine,
    session: str,
    request: Request,
    sides: Sides,
    habits: Habits = Habits(),
    exchanges: Sequence[Exchange] = (),
) -> Iterator[PageUpdate]:
    """Answer the question of ``sides``: the tokens first, then the growing answers of B and A.

    Ends what a moved slider asked for, if that is still under way.
    """
    engine.pages.end_preview(session, version=sides.version)
    work = engine.pages.work(session)
    try:
        for update in _ask(engine, request, sides, habits, exchanges, work):
            if update.runs:  # B's answer stays on the page where A's fails
                sides = replace(sides, runs=update.runs)
            yield update
    except StoppedError:
        yield PageUpdate(message(work.why), answers=answers(engine.runs, sides), done=True)
    except Exception as error:
        notice = message(explain(error), "problem")
        yield PageUpdate(notice, answers=answers(engine.runs, sides), done=True)
    finally:
        engine.pages.leave(session, work)


def ask_live(
    engine: Engine, session: str, request: Request, sides: Sides, habits: Habits = Habits()
) -> Iterator[PageUpdate]:
    """Ask again under settings that were moved; the next move ends this without a word.

    A conversation is not asked again: every answer would become part of it.
    """
    if engine.pages.busy(session) or habits.remember or request.missing(sides.question):
        return
    work = engine.pages.begin_preview(session, sides.version, live=True)
    if work is None:
        return
    try:
        yield from _ask_quietly(engine, request, sides, habits, work)
        if work.stop.is_set() and work.why:  # stopped by hand or by the deadline: no answer runs
            yield PageUpdate(answers=answers(engine.runs, sides))
    except Exception as error:
        yield PageUpdate(message(explain(error), "problem"), answers=answers(engine.runs, sides))
    finally:
        engine.pages.leave(session, work)


def _ask_quietly(
    engine: Engine, request: Request, sides: Sides, habits: Habits, work: Work
) -> Iterator[PageUpdate]:
    if work.stop.wait(PAUSE_S):
        return
    with suppress(StoppedError):
        for update in _ask(engine, request, sides, habits, (), work, live=True):
            if work.stop.is_set():
                return
            yield replace(update, notice=update.notice if update.done else None, done=False)


def is_slow(engine: Engine, model: str) -> bool:
    """Whether asking this model by itself would make a person wait."""
    unknown = 0.0 if model == BUILT_IN else math.inf
    return engine.answer_s.get(model, unknown) > LIVE_S


def _ask(
    engine: Engine,
    request: Request,
    sides: Sides,
    habits: Habits,
    exchanges: Sequence[Exchange],
    work: Work,
    live: bool = False,
) -> Iterator[PageUpdate]:
    """``live``: what these settings answered before is not asked again."""
    if text := request.missing(sides.question):
        yield PageUpdate(message(text, "problem"), done=True)
        return
    request.check()
    compressor, reference = request.compressor(), sides.reference
    yield PageUpdate(progress(engine, request.model, "Reading the clip…"))
    video = engine.clip(str(request.path), request.frames, work)
    clip = request.clip(video, compressor.needs | (reference.needs if habits.both else frozenset()))

    def answered(which: Compressor) -> tuple[str, Run] | None:
        """The run that answered already; on Ask, one that was made here and has its times."""
        known = stored(engine, clip, which, sides, answered=True)
        return known if known and (live or math.isfinite(known[1].cost.prefill_s)) else None

    known = answered(compressor) if live else None
    if known is not None and (not habits.both or answered(reference)):
        return
    yield from waiting(engine, work)
    text = f"Encoding {count_of(len(video), 'frame')}…"
    yield PageUpdate(progress(engine, request.model, text), status=status(engine))
    encoded = engine.encode(clip, work)
    earlier = history(exchanges) if habits.remember else []
    asking = _Asking(engine, request, clip, encoded, earlier, work)
    if known is None:
        known, sides = yield from asking.b(compressor, sides)
    run_id, run = known
    given: Exchange = {"question": run.question, "answer": run.answer}
    if habits.remember:
        yield PageUpdate(exchanges=[*exchanges, given][-EXCHANGES_HELD:])
    notice = message(work.why or used(video))
    if habits.both and not work.stop.is_set() and (habits.remember or not answered(reference)):
        yield from asking.a(reference, run_id, run, sides)
    engine.line.leave(work)
    yield PageUpdate(notice, status=status(engine, run), done=True)


@dataclass(frozen=True)
class _Asking:
    """What the questions to both sides share."""

    engine: Engine
    request: Request
    clip: Any
    encoded: EncodedClip
    earlier: Sequence[tuple[str, str]]
    work: Work

    def b(self, compressor: Compressor, sides: Sides) -> Any:
        """Tokens, growing answer and cost of B; returns the run with its id, and the sides."""
        on_show = stored(self.engine, self.clip, compressor, sides)
        if decides_early(compressor) and (on_show is None or on_show[0] != sides.runs[0]):
            first = self.engine.compress(self.clip, self.encoded, compressor)
            sides = yield from self._shown(first, sides)
        if self.work.stop.is_set():  # nothing is begun that would only be ended
            raise StoppedError
        yield PageUpdate(message("Answering…"))
        began = time.monotonic()
        run = yield from self._words("b", compressor, sides)
        if not self.work.stop.is_set():
            self.engine.answer_s[self.request.model] = time.monotonic() - began
        sides = yield from self._shown(run, sides)
        return (sides.runs[0], run), sides

    def a(self, reference: Compressor, run_id: str, run: Run, sides: Sides) -> Any:
        """The growing answer of the side that ``run``, which is B, is held against."""
        yield PageUpdate(message(f"Answering with {_named(reference)}…"))
        other = yield from self._words("a", reference, sides)
        other_id = self.engine.runs.add(other, self.request.path, self.request.example)
        yield from self._shown(run, replace(sides, runs=[other_id, *sides.runs]), run_id)

    def _shown(self, run: Run, sides: Sides, run_id: str = "") -> Any:
        """``run`` as B; returns the sides as they are then."""
        seen = view(self.engine, self.request, run, self.encoded, sides, run_id)
        yield update_of(self.engine, seen, run)
        return replace(sides, runs=seen.runs)

    def _words(self, side: str, compressor: Compressor, sides: Sides) -> Any:
        """Updates of the page while the words come; returns the run."""
        sampling = self.request.checked_sampling()
        settled = [item for item in answers(self.engine.runs, sides) if item["side"] != side]
        worth = caveat(self.request.example, self.request.model)

        def growing(text: str) -> PageUpdate:
            running = answer(text, None, side, running=True, caveat=worth)
            return PageUpdate(answers=[*settled, running])

        yield growing("")
        stream = self.engine.answer(
            self.clip, sides.question, compressor, sampling, self.work, self.earlier
        )
        with closing(stream):  # type: ignore[type-var]  # a generator; closing it frees the model
            for item in stream:
                if isinstance(item, Run):
                    return item
                yield growing(item)
        raise StoppedError


def _named(compressor: Compressor) -> str:
    return "all tokens" if compressor.name == "full" else compressor.title
