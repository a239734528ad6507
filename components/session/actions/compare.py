"""Comparing methods on one clip and question: rows of values as they finish. No widgets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import Any

from gleanvid.compressors.base import Compressor
from gleanvid.models.generation.sampling import Sampling
from gleanvid.run import Run
from gleanvid.serving.vllm import SCHEME
from gleanvid.types import StoppedError, Video

from ...viewer.payload import MAX_METHODS, payload
from ...viewer.values import Clip
from ..display import Answer, Message, explain, message, progress, status, used, waiting
from ..request import Request, Sides
from ..work.engine import Engine
from ..work.queue import Work
from . import rows as table
from .plans import Plan, needs_of
from .preview import answers, pair, stored, with_earlier
from .rows import Row


@dataclass(frozen=True)
class Compared:
    """What changes in the comparison; None leaves a part as it is."""

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
) -> Iterator[Compared]:
    """One row after another, each in a turn of its own; a failing method is a row with its error.

    The clip is read and encoded once, with every signal that one of the methods needs. ``tried``:
    ids of the runs on show, which stay beside the compared ones; ``pinned``: A, as in `Sides`.
    """
    done: list[Row] = []
    work = engine.pages.work(session)
    try:
        if text := request.missing(question):
            yield Compared(message(text, "problem"), done=True)
            return
        planned = make_plans()
        done = [Row(plan.label, plan.method) for plan in planned]
        yield Compared(progress(engine, request.model, "Reading the clip…"), [*done])
        comparison = Comparison(engine, request, question, needs_of(planned), work)
        is_stopped = False
        for index, plan in enumerate(planned):
            work = engine.pages.renew(session, work)
            text = f"Answering with {plan.label}…"  # the table counts the rows
            done[index] = replace(done[index], state="running")
            yield Compared(message(text), [*done])
            try:
                for ahead in waiting(engine, work):
                    yield Compared(ahead.notice, status=ahead.status)
                done[index] = comparison.row(done[index], plan.make, work)
            except Exception as error:  # one method's fault must not end the table
                late = isinstance(error, StoppedError) and engine.pages.work(session) is work
                if isinstance(error, StoppedError) and not late:
                    is_stopped = True
                    break
                reason = work.why if late else explain(error)
                done[index] = replace(done[index], state="failed", error=reason)
            finally:
                engine.line.leave(work)
            yield Compared(rows=[*done], status=status(engine, done[index].run))
        opening = stopped(over(done), len(done)) if is_stopped else counted(done)
        sides = Sides(tried, pinned, question)
        yield finished(engine, comparison, over(done), opening, sides)
    except Exception as error:
        left = over(done) if done else None
        yield Compared(message(explain(error), "problem"), left, done=True)
    finally:
        engine.pages.leave(session, work)


def over(rows: list[Row]) -> list[Row]:
    """The rows that are done or failed: nothing runs once a comparison has ended."""
    return [row for row in rows if row.state in table.OVER]


def counted(rows: Sequence[Row]) -> str:
    """How many rows have an answer, and how many are refused."""
    failed = sum(row.state == "failed" for row in rows)
    refused = f", {failed} refused" if failed else ""
    return f"{len(rows) - failed} rows answered{refused}."


def stopped(rows: Sequence[Any], planned: int) -> str:
    return f"Stopped: {len(rows)} of {planned} rows done."


class Comparison:
    """What all rows share: the clip, encoded once, and the full-token answer once it is there."""

    def __init__(
        self, engine: Engine, request: Request, question: str, needs: frozenset[str], work: Work
    ) -> None:
        request.check()
        self.engine, self.request, self.question = engine, request, question
        self.video: Video = engine.clip(str(request.path), request.frames, work)
        self.clip, self.sampling = request.clip(self.video, needs), request.checked_sampling()
        self.reference: str | None = None
        # A server is warm, and reads nothing twice: what it read of the clip would speed row one.
        self.is_warm = request.model.startswith(SCHEME)

    def row(self, row: Row, make: Callable[[], Compressor], work: Work) -> Row:
        """The finished row. Raises what the method raises, ``StoppedError`` where it was ended."""
        compressor, engine = make(), self.engine
        engine.encode(self.clip, work)
        if not self.is_warm:  # what only a first pass costs would be in the first row alone
            self._answer(compressor, replace(self.sampling, max_new_tokens=1), work)
            self.is_warm = True
        run = self._answer(compressor, self.sampling, work)
        if self.reference is None and compressor.name == "full":
            self.reference = run.answer
        row = replace(row, state="done", run=run, run_id=self._add(run))
        if not self.reference:
            return row
        score = engine.score(self.clip, self.question, self.reference, compressor, work)
        return replace(row, score=score)

    def _answer(self, compressor: Compressor, sampling: Sampling, work: Work) -> Run:
        answers = self.engine.answer(self.clip, self.question, compressor, sampling, work)
        with closing(answers):  # type: ignore[type-var]  # a generator; closing frees the model
            run = next(item for item in answers if isinstance(item, Run))
        if work.stop.is_set():
            raise StoppedError
        return run

    def _add(self, run: Run) -> str:
        return self.engine.runs.add(run, self.request.path, self.request.example)

    def tokens(self) -> Any | None:
        encoded = self.engine.encoded(self.clip)
        return encoded.tokens if encoded else None


def finished(
    engine: Engine, comparison: Comparison, rows: list[Row], opening: str, sides: Sides
) -> Compared:
    """The last word: runs in the viewer, as many as it takes; curves and files have them all."""
    request, example = comparison.request, comparison.request.example
    compared = {row.run_id: row.run for row in rows if row.run is not None}
    if not compared:
        return Compared(message(opening, "problem" if rows else "quiet"), rows, done=True)
    known = replace(sides, runs=[*compared, *sides.runs])
    a = stored(engine, comparison.clip, sides.reference, known)
    first = dict([a] if a else [])  # A stays what it was, where the page has a run of it
    found = with_earlier(engine.runs, comparison.clip, first | compared, sides.runs)
    ids, runs = zip(*in_order(found, request, comparison.question), strict=True)
    in_viewer = runs[:MAX_METHODS]
    view = payload(
        in_viewer,
        *pair(len(in_viewer)),
        comparison.tokens(),
        source=request.path,
        facts=example and example.facts,
        question=comparison.question,
    )
    view["runs"] = [*ids[: len(in_viewer)]]
    given = answers(engine.runs, Sides(view["runs"], question=comparison.question))
    text = f"{opening} {used(comparison.video)}"
    return Compared(message(text), rows, view, given, [*ids], status(engine, runs[0]), done=True)


def in_order(runs: Mapping[str, Run], request: Request, question: str) -> list[tuple[str, Run]]:
    """As `Sides` has them: B, then A, then the others. A is the first one.

    B is what the page is set to, where that has answered the question, else the first method.
    """
    a, *others = runs.items()
    own: Mapping[str, Any] = {}
    with suppress(ValueError):
        own = request.make_compressor().settings()
    wishes = (
        [one for one in others if (one[1].compressor, one[1].question) == (own, question)],
        [one for one in others if one[1].compressor["name"] != "full"],
        others,
    )
    b = next(filter(None, wishes), [])[:1]
    return [*b, a, *(one for one in others if one not in b)]


__all__ = ["Compared", "compare", "table"]
