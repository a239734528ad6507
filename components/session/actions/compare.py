"""Compare compressors on one clip and question; yields the rows of a table as they finish."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from gleanvid.attribution.relevance import Relevance
from gleanvid.compressors.base import Compressor
from gleanvid.models.encoded import ClipKey
from gleanvid.models.generation.sampling import Sampling
from gleanvid.run import Run
from gleanvid.serving.vllm import SCHEME
from gleanvid.types import ModelError, StoppedError

from ...viewer.values import Clip
from .. import clock, display
from ..display import Answer, Message, explain, message, status
from ..request import NO_CLIP, Request, Sides, can_answer, unmeasured
from ..work.engine import Engine
from ..work.queue import Work
from .compared_runs import compared_view
from .plans import Plan, needs_of
from .rows import Row, finished


@dataclass(frozen=True)
class Compared:
    """Changes of the comparison. A field that is None changes nothing."""

    notice: Message | None = None
    rows: list[Row] | None = None
    viewer: Clip | None = None
    answers: list[Answer] | None = None
    run_ids: list[str] | None = None
    status: list[tuple[str, str]] | None = None
    done: bool = False


def compare(
    engine: Engine,
    session: str,
    request: Request,
    question: str,
    make_plans: Callable[[], list[Plan]],
    tried: Sequence[str] = (),
    pinned: Mapping[str, Any] | None = None,
    more: Sequence[str] = (),
    measured: bool = False,
) -> Iterator[Compared]:
    """Run one plan after another; between two of them others may use the model.

    ``tried``: ids of the runs in the viewer, which stay there. ``pinned``: A, as in `Sides`.
    ``more``: further questions; every method answers them after ``question``. ``measured``: whether
    to measure how much every method keeps of what mattered for the answers of all tokens.
    """
    sides = Sides(tried, pinned, question)
    comparison = _Comparison(engine, session, request, sides, more, measured)
    try:
        yield from comparison.updates(make_plans)
    except Exception as error:
        rows = finished(comparison.rows) if comparison.rows else None
        is_stopped = isinstance(error, StoppedError)  # while the clip was read
        why = message(comparison.work.why) if is_stopped else message(explain(error), "problem")
        yield Compared(why, rows, done=True)
    finally:
        engine.pages.leave(session, comparison.work)


def counted(rows: Sequence[Row]) -> str:
    """Return a sentence: how many rows are done, and how many were refused."""
    failed = sum(row.state == "failed" for row in rows)
    refused = f", {failed} refused" if failed else ""
    return f"{len(rows) - failed} rows done{refused}."


def stopped(rows: Sequence[Any], planned: int) -> str:
    return f"Stopped: {len(rows)} of {planned} rows done."


def _no_clip(request: Request) -> str:
    return "" if request.path else NO_CLIP


class _Comparison:
    """The state of a comparison: its rows, the clip and the answer of all tokens."""

    def __init__(
        self,
        engine: Engine,
        session: str,
        request: Request,
        sides: Sides,
        more: Sequence[str] = (),
        measured: bool = False,
    ) -> None:
        self.engine, self.session, self.request, self.sides = engine, session, request, sides
        self.asks = can_answer(request.model)
        self.questions = [sides.question, *more] if self.asks else []
        self.work = engine.pages.work(session)
        self.rows: list[Row] = []
        self.references: list[str] = []  # the answer of all tokens for each question
        self.measured = measured
        self.relevance: list[Relevance | None] = []  # which tokens these answers rest on
        self.unmeasured = (
            unmeasured(request.model) if measured else ""
        )  # why relevance cannot be measured
        # The first pass of a process is slow. A server is warm, and a pass before the first row
        # would only fill its cache.
        self.is_warm = request.model.startswith(SCHEME)

    def updates(self, make_plans: Callable[[], list[Plan]]) -> Iterator[Compared]:
        """Run all plans until the person stops; then show the runs in the viewer."""
        request = self.request
        missing = map(request.missing, self.questions) if self.asks else [_no_clip(request)]
        if text := next(filter(None, missing), ""):
            yield Compared(message(text, "problem"), done=True)
            return
        plans = make_plans()
        self.rows = [Row(plan.label, plan.method) for plan in plans]
        notice = display.progress(self.engine, request.model, "Reading the clip…")
        yield Compared(notice, [*self.rows])
        request.check()
        video = self.engine.clip(str(request.path), request.sampled, self.work)
        clip = request.clip(video, needs_of(plans))
        is_stopped = False
        for index, plan in enumerate(plans):
            outcome = yield from self._run_plan(index, plan, clip)
            if is_stopped := outcome is None:
                break
            self.rows[index] = outcome
            yield Compared(rows=[*self.rows], status=status(self.engine, outcome.run))
        rows = finished(self.rows)
        opening = stopped(rows, len(plans)) if is_stopped else counted(rows)
        opening = " ".join(filter(None, [opening, self.unmeasured]))
        yield self._shown(clip, rows, opening)

    def _run_plan(
        self, index: int, plan: Plan, clip: ClipKey
    ) -> Generator[Compared, Any, Row | None]:
        """Return the row of a plan, done or failed; None if the person stopped it."""
        row = self.rows[index] = replace(self.rows[index], state="running")
        try:
            return (yield from self._answered(index, plan.make(), clip))
        except StoppedError:
            if self.work.why == Work.BY_HAND:
                return None
            return replace(row, state="failed", error=self.work.why)
        except Exception as error:  # a compressor that fails must not end the table
            return replace(row, state="failed", error=explain(error))
        finally:
            self.engine.queue.leave(self.work)

    def _turn(self, index: int, step: str = "") -> Iterator[Compared]:
        """Wait for the model; others may use it before. Every turn has the whole deadline.

        ``step``: how far the row is.
        """
        self.engine.queue.leave(self.work)
        self.work = self.engine.pages.renew(self.session, self.work)
        row = self.rows[index] = replace(self.rows[index], step=step)
        doing = "Answering with" if self.asks else "Compressing with"
        text = f"{doing} {row.label}{step and f': {step}'}…"
        yield Compared(message(text), [*self.rows])
        for update in display.waiting(self.engine, self.work):
            yield Compared(update.notice, status=update.status)

    def _answered(
        self, index: int, compressor: Compressor, clip: ClipKey
    ) -> Generator[Compared, Any, Row]:
        """Return the finished row. Raises what the compressor raises, and ``StoppedError``."""
        engine, row = self.engine, self.rows[index]
        yield from self._turn(index)
        encoded = engine.encode(clip, self.work)
        if not self.asks:
            run = engine.compress(clip, encoded, compressor, self.work)
            run_id = engine.runs.add(run, self.request.path, self.request.example)
            return replace(row, state="done", run=run, run_id=run_id)
        runs = yield from self._asked(index, compressor, clip)
        if compressor.name == "full":
            self.references = self.references or [run.answer for run in runs]
        ids = [engine.runs.add(run, self.request.path, self.request.example) for run in runs]
        if compressor.name == "full" and self.measured and not self.unmeasured:
            yield from self._turn(index, "what mattered")
            self._measure(clip, dict(zip(ids, runs, strict=True)))
        others = tuple(zip(ids, runs, strict=True))[1:]
        row = replace(row, state="done", run=runs[0], run_id=ids[0], others=others)
        pairs = zip(self.relevance, runs, strict=False)
        kept = [
            found.kept_over_layers(one.by_layer, len(one.cost.visual_tokens_by_layer))["kept"]
            for found, one in pairs
            if found
        ]
        row = replace(row, mattered=fmean(kept)) if kept else row
        asked = [pair for pair in zip(self.questions, self.references, strict=False) if pair[1]]
        if not asked:
            return row
        yield from self._turn(index, "log-probability")
        scores = [engine.score(clip, *pair, compressor, self.work) for pair in asked]
        return replace(row, score=fmean(scores))

    def _asked(
        self, index: int, compressor: Compressor, clip: ClipKey
    ) -> Generator[Compared, Any, list[Run]]:
        """Return the runs of all questions, the first one timed."""
        first, *more = self.questions
        sampling = self.request.checked_sampling()
        short = replace(sampling, max_new_tokens=1)
        if not self.is_warm:
            self._answer(clip, first, compressor, short)
            self.is_warm = True
        run = self._answer(clip, first, compressor, sampling)
        if clock.can_repeat(self.request.model):
            run = clock.repeated(run, lambda: self._answer(clip, first, compressor, short))
        runs = [run]
        for number, question in enumerate(more, 2):
            yield from self._turn(index, f"question {number} of {len(self.questions)}")
            runs.append(self._answer(clip, question, compressor, sampling))
        return runs

    def _measure(self, clip: ClipKey, runs: Mapping[str, Run]) -> None:
        """Measure the relevance for the answers of all tokens, or the reason why it fails."""
        try:
            self.relevance = [self._relevance(clip, *one) for one in runs.items()]
        except ModelError as error:
            self.unmeasured = explain(error)

    def _relevance(self, clip: ClipKey, run_id: str, run: Run) -> Relevance | None:
        """Return the relevance of the tokens for the answer of a run; None for an empty answer."""
        engine = self.engine
        ids = [run_id, *engine.runs.of_clip(clip, self.sides.runs)]
        found = engine.runs.relevance(ids, run.question)
        if run.answer and (found is None or found.answer != run.answer):
            found = engine.relevance(clip, run.question, run.answer, self.work)
            engine.runs.add_relevance(run_id, found)
        return found if run.answer else None

    def _answer(
        self, clip: ClipKey, question: str, compressor: Compressor, sampling: Sampling
    ) -> Run:
        return self.engine.run(clip, question, compressor, sampling, self.work)

    def _shown(self, clip: ClipKey, rows: list[Row], opening: str) -> Compared:
        """Return the last update; ``run_ids`` names all runs, the viewer takes the first ones."""
        new = {row.run_id: row.run for row in rows if row.run is not None}
        if not new:
            return Compared(message(opening, "problem" if rows else "quiet"), rows, done=True)
        view, runs = compared_view(self.engine, self.request, self.sides, clip, new)
        shown = next(iter(runs.values()))
        notice = message(f"{opening} {display.used(clip.video, shown.compression.grid[0])}")
        now = status(self.engine, shown)
        return Compared(notice, rows, view.value, view.answers, [*runs], now, done=True)
