"""Compare compressors at several retention ratios on the same clips and questions.

Each compressor at each ratio is a row of the comparison table. Rows are yielded as they finish.
"""

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

from ..jobs import clock, display
from ..jobs.diagnosed import diagnosed
from ..jobs.display import Message, PageUpdate, explain, message, status, unmeasured
from ..jobs.engine import Engine
from ..jobs.job import READING, Job
from ..jobs.methods import can_answer
from ..jobs.queue import Work
from ..jobs.request import Request, Sides
from .compared_runs import compared_view, relevance_for
from .plans import Plan, needs_of
from .rows import Row, finished


@dataclass(frozen=True)
class Compared(PageUpdate):
    """Changes of the page and of the table. A field that is None changes nothing."""

    rows: list[Row] | None = None


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
    requests: Sequence[Request] = (),
) -> Iterator[Compared]:
    """Run each planned row of the table; between two rows, other visitors may use the model.

    Args:
        engine: runs the models and stores the runs.
        session: id of the open page.
        request: clip, model and options of the page.
        question: the first question.
        make_plans: returns the planned rows, each of one compressor at one retention ratio.
        tried: ids of the runs in the viewer, which stay there.
        pinned: settings of A, the baseline in the viewer; None: all tokens.
        more: further questions, which every compressor answers after ``question``.
        measured: whether to measure how relevant each token is for the answer, and the fraction of
            this relevance that lies on the kept tokens of each compressor.
        requests: a request for each question, if the questions are about several clips; if empty,
            all questions are about the clip of ``request``.
    """
    sides = Sides(tried, pinned, question)
    comparison = _Comparison(engine, session, request, sides, more, measured, requests)

    def last(notice: Message) -> Compared:
        done = finished(comparison.rows) if comparison.rows else None
        return Compared(notice, rows=done, done=True)

    yield from comparison.run(comparison.updates(make_plans), last)


def counted(rows: Sequence[Row]) -> str:
    """Return a sentence on how many rows of the table are done, and how many failed."""
    failed = sum(row.state == "failed" for row in rows)
    refused = f", {failed} refused" if failed else ""
    return f"{len(rows) - failed} rows done{refused}."


def stopped(rows: Sequence[Any], planned: int) -> str:
    return f"Stopped: {len(rows)} of {planned} rows done."


@dataclass(eq=False)
class _Comparison(Job):
    """State of a comparison: table rows, and each question's clip and answer with all tokens."""

    sides: Sides
    more: Sequence[str] = ()
    measured: bool = False
    requests: Sequence[Request] = ()

    def __post_init__(self, begun: Work | None) -> None:
        super().__post_init__(begun)
        model = self.request.model
        self.asks = can_answer(model)
        self.questions = [self.sides.question, *self.more] if self.asks else []
        self.requests = list(self.requests) or [self.request] * max(1, len(self.questions))
        self.clips: list[ClipKey] = []
        self.rows: list[Row] = []
        # for each question: the tokens' relevance for the answer with all tokens
        self.relevance: list[Relevance | None] = []
        # why relevance cannot be measured
        self.unmeasured = unmeasured(model) if self.measured else ""
        # The first forward pass in a process is slow, so an untimed answer precedes the first row.
        # A vLLM server needs none: an extra answer would fill its prefix cache and falsify times.
        self.is_warm = model.startswith(SCHEME)

    def updates(self, make_plans: Callable[[], list[Plan]]) -> Iterator[Compared]:
        """Run the planned rows until the user stops; then show all runs in the viewer."""
        request, plans = self.request, make_plans()
        request.check(*self.questions)
        self.rows = [Row(plan.label, plan.method) for plan in plans]
        yield Compared(self.progress(READING), rows=[*self.rows])
        self.clips = [self._read(one, needs_of(plans)) for one in self.requests]
        is_stopped = False
        for index, plan in enumerate(plans):
            outcome = yield from self._run_plan(index, plan)
            if is_stopped := outcome is None:
                break
            self.rows[index] = outcome
            yield Compared(rows=[*self.rows])
        rows = finished(self.rows)
        opening = stopped(rows, len(plans)) if is_stopped else counted(rows)
        opening = " ".join(filter(None, [opening, self.unmeasured]))
        yield self._shown(rows, opening)

    def _read(self, request: Request, signals: frozenset[str]) -> ClipKey:
        video = self.engine.clip(str(request.path), request.sampled, self.work)
        return request.clip(video, signals)

    def _run_plan(self, index: int, plan: Plan) -> Generator[Compared, Any, Row | None]:
        """Return the finished or failed row of the table; None if the user stopped it."""
        row = self.rows[index] = replace(self.rows[index], state="running")
        try:
            return (yield from self._answered(index, plan.make()))
        except StoppedError:
            if self.work.why == Work.BY_HAND:
                return None
            return replace(row, state="failed", error=self.work.why)
        except Exception as error:  # a compressor that fails must not end the table
            return replace(row, state="failed", error=explain(error))
        finally:
            self.engine.queue.leave(self.work)

    def _turn(self, index: int, step: str = "") -> Iterator[Compared]:
        """Leave the model queue and wait in it again, so that other visitors get their turn.

        Every step of a row has its own deadline. ``step``: name of the step, for the message; ""
        for the first step.
        """
        self.renew()
        row = self.rows[index] = replace(self.rows[index], step=step)
        doing = "Answering with" if self.asks else "Compressing with"
        text = f"{doing} {row.label}{step and f': {step}'}…"
        yield Compared(message(text), rows=[*self.rows])
        for update in self.waiting():
            yield Compared(update.notice, status=update.status)
        shown = self.engine.runs.get(next(iter(self.sides.runs), None))
        yield Compared(status=status(self.engine, shown))

    def _answered(self, index: int, compressor: Compressor) -> Generator[Compared, Any, Row]:
        """Answer all questions with a compressor; return the finished row.

        Raises the compressor's errors, and ``StoppedError``.
        """
        engine, row = self.engine, self.rows[index]
        yield from self._turn(index)
        encoded = self.encode(self.clips[0])
        if not self.asks:
            (run,) = diagnosed(
                [engine.compress(self.clips[0], encoded, compressor)], encoded.tokens
            )
            run_id = engine.runs.add(run, self.request.path, self.request.example)
            return replace(row, state="done", run=run, run_id=run_id)
        runs = yield from self._asked(index, compressor)
        if compressor.name != "full":  # all tokens: a random selection would be the same
            runs = [*diagnosed(runs[:1], encoded.tokens), *runs[1:]]
        pairs = zip(runs, self.requests, strict=True)
        ids = [engine.runs.add(run, of.path, of.example) for run, of in pairs]
        if compressor.name == "full" and self.measured and not self.unmeasured:
            yield from self._turn(index, "what mattered")
            self._measure(ids, runs)
        others = tuple(zip(ids, runs, strict=True))[1:]
        row = replace(row, state="done", run=runs[0], run_id=ids[0], others=others)
        kept = [
            found.kept_over_layers(one.by_layer, len(one.cost.visual_tokens_by_layer))["kept"]
            for found, one in zip(self.relevance, runs, strict=False)
            if found
        ]
        return replace(row, mattered=fmean(kept)) if kept else row

    def _asked(self, index: int, compressor: Compressor) -> Generator[Compared, Any, list[Run]]:
        """Return a run for each question.

        Only the first question is asked several times, for the median of its times.
        """
        (clip, first), *more = zip(self.clips, self.questions, strict=True)
        sampling = self.request.checked_sampling()
        short = replace(sampling, max_new_tokens=1)
        if not self.is_warm:
            self._answer(clip, first, compressor, short)
            self.is_warm = True
        run = self._answer(clip, first, compressor, sampling)
        if clock.can_repeat(self.request.model):
            run = clock.repeated(run, lambda: self._answer(clip, first, compressor, short))
        runs = [run]
        for number, one in enumerate(more, 2):
            yield from self._turn(index, f"question {number} of {len(self.questions)}")
            runs.append(self._answer(*one, compressor, sampling))
        return runs

    def _measure(self, ids: Sequence[str], runs: Sequence[Run]) -> None:
        """Measure how relevant each token is for the answers with all tokens, or note why not."""
        try:
            self.relevance = [
                relevance_for(self.engine, clip, self.sides.runs, run_id, run, self.work)
                for clip, run_id, run in zip(self.clips, ids, runs, strict=True)
            ]
        except ModelError as error:
            self.unmeasured = explain(error)

    def _answer(
        self, clip: ClipKey, question: str, compressor: Compressor, sampling: Sampling
    ) -> Run:
        return self.engine.run(clip, question, compressor, sampling, self.work)

    def _shown(self, rows: list[Row], opening: str) -> Compared:
        """Return the last update: the finished rows, the ids of all runs, and the viewer's content.

        The viewer shows as many runs as fit. It does not change if the first question is about
        another clip than the page's.
        """
        clip, new = self.clips[0], {row.run_id: row.run for row in rows if row.run is not None}
        if not new:
            return Compared(message(opening, "problem" if rows else "quiet"), rows=rows, done=True)
        if self.requests[0].path != self.request.path:
            now = status(self.engine)
            return Compared(message(opening), rows=rows, status=now, done=True)
        view, runs = compared_view(self.engine, self.request, self.sides, clip, new)
        shown = next(iter(runs.values()))
        notice = message(f"{opening} {display.used(clip.video, shown.compression.grid[0])}")
        now = status(self.engine, shown)
        return Compared(notice, view.value, view.answers, [*runs], now, rows=rows, done=True)
