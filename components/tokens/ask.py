"""Ask the question with the compressor of run B, then with that of run A, the baseline.

B is asked first because it usually keeps fewer tokens and so answers faster.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from gleanvid.compressors.base import Compressor
from gleanvid.run import Run
from gleanvid.types import StoppedError

from ..jobs import clock, display
from ..jobs.display import Message, PageUpdate, message, status
from ..jobs.engine import Engine, decides_early
from ..jobs.job import Job
from ..jobs.local import BUILT_IN
from ..jobs.request import Request, Sides
from .answers import Answer, answer, answers, caveat
from .preview import find_run, update_of, view_both

PAUSE_S = 0.15  # seconds from the last move of a slider until the question is asked again
LIVE_S = 2.0  # if an answer takes more seconds, the question is asked again only on demand


def ask(
    engine: Engine, session: str, request: Request, sides: Sides, both: bool = True
) -> Iterator[PageUpdate]:
    """Answer ``sides.question`` with the compressor of B and, if ``both``, of A.

    Yields the page's changes: which tokens B keeps, then its growing answer, then the answer of A.
    Ends a running preview or live answer of the same ``session`` (an open page).
    """
    asking = _Asking(engine, session, request, sides, both)

    def last(notice: Message) -> PageUpdate:
        return PageUpdate(notice, answers=asking.answers(), done=True)

    yield from asking.run(asking.updates(), last)


def ask_live(
    engine: Engine, session: str, request: Request, sides: Sides, both: bool = True
) -> Iterator[PageUpdate]:
    """Ask the question again after the user changed a setting: a live answer.

    If the user changes a setting again meanwhile, the answer stops without a message.
    """
    if engine.pages.has(session) or request.missing(sides.question):
        return
    work = engine.pages.begin_preview(session, sides.version, live=True)
    if work is None:
        return
    asking = _Asking(engine, session, request, sides, both, begun=work)

    def last(notice: Message) -> PageUpdate:
        shown = None if work.stop.is_set() else notice  # a stopped answer needs no message
        return PageUpdate(shown, answers=asking.answers())

    yield from asking.run(asking.live_updates(), last)


def is_slow(engine: Engine, model: str) -> bool:
    """Return whether the model is too slow to answer after every move of a slider."""
    unknown = 0.0 if model == BUILT_IN else math.inf
    return engine.answer_s.get(model, unknown) > LIVE_S


@dataclass(eq=False)
class _Asking(Job):
    """One question, asked with the compressor of B and, if ``both``, with that of A.

    ``sides`` is updated with the ids of the new runs. In a live answer, a compressor that already
    answered the question is not asked again.
    """

    sides: Sides
    both: bool

    @property
    def is_live(self) -> bool:
        return self.work.live

    def answers(self) -> list[Answer]:
        return answers(self.engine.runs, self.sides)

    def live_updates(self) -> Iterator[PageUpdate]:
        """Wait ``PAUSE_S``, then yield the updates without their progress messages."""
        if self.work.stop.wait(PAUSE_S):
            raise StoppedError
        for update in self.updates():
            if self.work.stop.is_set():
                raise StoppedError
            yield replace(update, notice=update.notice if update.done else None, done=False)

    def updates(self) -> Iterator[PageUpdate]:
        """Ask with B's compressor, then A's; yield the changes."""
        engine, request = self.engine, self.request
        request.check(self.sides.question)
        candidate = request.make_compressor()
        if not self.is_live:  # a question that cannot be asked leaves the preview alone
            engine.pages.end_preview(str(self.session), version=self.sides.version)
        baseline = self.sides.reference if self.both else None
        yield from map(PageUpdate, self.reading())
        video = engine.clip(str(request.path), request.sampled)
        signals = candidate.needs | (baseline.needs if baseline else frozenset())
        self.clip = request.clip(video, signals)
        known = self._find_answer(candidate) if self.is_live else None
        if known and (baseline is None or self._find_answer(baseline)):
            return
        yield from self.waiting()
        yield self.encoding(video)
        self.encoded = self.encode(self.clip)
        run_id, run = known or (yield from self._ask_candidate(candidate))
        notice = message(self.work.why or display.used(video, run.compression.grid[0]))
        if baseline and not self.work.stop.is_set():
            yield from self._ask_baseline(baseline, run_id, run)
        engine.queue.leave(self.work)
        yield PageUpdate(notice, status=status(engine, run), done=True)

    def _find_answer(self, compressor: Compressor) -> tuple[str, Run] | None:
        """Return the id and run of an earlier answer to this question, or None.

        If the user pressed Ask, only a run with measured times counts.
        """
        known = find_run(self.engine, self.clip, compressor, self.sides, answered=True)
        is_enough = known and (self.is_live or math.isfinite(known[1].cost.prefill_s))
        return known if is_enough else None

    def _ask_candidate(self, compressor: Compressor) -> Generator[PageUpdate, Any, tuple[str, Run]]:
        """Show which tokens B keeps, its growing answer and its cost; return its id and run."""
        shown = find_run(self.engine, self.clip, compressor, self.sides)
        if decides_early(compressor) and (shown is None or shown[0] != self.sides.runs[0]):
            yield self._show(self.engine.compress(self.clip, self.encoded, compressor))
        if self.work.stop.is_set():
            raise StoppedError
        yield PageUpdate(message("Answering…"))
        began = time.monotonic()
        run = yield from self._stream("b", compressor)
        # `is_slow` reads these seconds. An answer with all tokens takes longer and does not count.
        if not self.work.stop.is_set() and compressor.name != "full":
            self.engine.answer_s[self.request.model] = time.monotonic() - began
        yield self._show(run)
        return self.sides.runs[0], run

    def _ask_baseline(self, compressor: Compressor, run_id: str, run: Run) -> Iterator[PageUpdate]:
        """Show A's answer next to ``run``, the run of B.

        If an earlier run has A's answer, only its times are measured, except in a live answer.
        """
        known = self._find_answer(compressor)
        if known and self.is_live:
            return
        title = "all tokens" if compressor.name == "full" else compressor.title
        yield PageUpdate(message(f"Answering with {title}…"))
        if known:
            other_id, other = known[0], self._timed_again(known[1], compressor)
        else:
            other_id, other = "", (yield from self._stream("a", compressor))
        engine, request = self.engine, self.request
        other_id = engine.runs.add(other, request.path, request.example, other_id)
        self.sides = replace(self.sides, runs=[other_id, *self.sides.runs])
        yield self._show(run, run_id)

    def _timed_again(self, run: Run, compressor: Compressor) -> Run:
        """Return an earlier run of A with new times, so that A and B were timed together."""
        if not clock.can_repeat(self.request.model):
            return run
        sampling = replace(self.request.checked_sampling(), max_new_tokens=1)
        question = self.sides.question
        new = self.engine.run(self.clip, question, compressor, sampling, self.work).cost
        cost = replace(run.cost, compress_s=new.compress_s, prefill_s=new.prefill_s)
        made_with = {key: value for key, value in run.made_with.items() if key != "first_token_s"}
        return replace(run, cost=cost, made_with=made_with)

    def _show(self, run: Run, run_id: str = "") -> PageUpdate:
        view = view_both(self.engine, self.request, run, self.encoded, self.sides, run_id)
        self.sides = replace(self.sides, runs=view.runs)
        return update_of(self.engine, view, run)

    def _stream(self, side: str, compressor: Compressor) -> Generator[PageUpdate, Any, Run]:
        """Show the growing answer below run A or B (``side``: "a" or "b"); return the run."""
        request = self.request
        sampling = request.checked_sampling()
        others = [item for item in self.answers() if item["side"] != side]
        warning = caveat(request.example, request.model)

        def growing(text: str) -> PageUpdate:
            running = answer(text, None, side, running=True, caveat=warning)
            return PageUpdate(answers=[*others, running])

        yield growing("")
        question = self.sides.question
        stream = self.engine.answer(self.clip, question, compressor, sampling, self.work)
        with closing(stream):  # type: ignore[type-var]  # a generator; closing it frees the model
            for item in stream:
                if isinstance(item, Run):
                    return item
                yield growing(item)
        raise StoppedError
