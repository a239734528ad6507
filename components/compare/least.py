"""Find each compressor's lowest retention ratio that gives the same answer as all tokens."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gleanvid.compressors import COMPRESSORS, title_of
from gleanvid.compressors.base import Compressor
from gleanvid.metrics.least import PASSES, Least, percent
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run

from ..jobs.display import Message, message
from ..jobs.engine import Engine
from ..jobs.job import Job
from ..jobs.methods import RATIO, has_free_ratio
from ..jobs.request import Request, Sides

NO_METHODS = "Choose at least one compressor whose retention ratio is not fixed."


@dataclass(frozen=True)
class Found:
    """Changes of the panel with the lowest ratios. A field that is None changes nothing."""

    notice: Message | None = None
    value: dict[str, Any] | None = None
    done: bool = False


def least(
    engine: Engine,
    session: str,
    request: Request,
    question: str,
    names: Sequence[str],
    make: Callable[[str, float], Compressor],
    tried: Sequence[str] = (),
) -> Iterator[Found]:
    """Find the lowest ratio of each compressor in ``names`` that keeps the answer.

    ``make`` returns a compressor from its name and a retention ratio. ``tried``: ids of earlier
    runs; ratios at which these answered the question are not run again. Between two answers, other
    visitors may use the model.
    """
    search = _Search(engine, session, request, question, make, tried)

    def last(notice: Message) -> Found:
        return Found(notice, search.value(done=True), done=True)

    yield from search.run(search.updates(names), last)


@dataclass(eq=False)
class _Search(Job):
    """State of the search for the lowest ratios: clip, question and the answer with all tokens."""

    question: str
    make: Callable[[str, float], Compressor]
    tried: Sequence[str] = ()
    answer: str = ""
    rows: list[dict[str, Any]] = field(default_factory=list)

    def value(self, done: bool = False) -> dict[str, Any] | None:
        """Content of the panel's table; None until the answer with all tokens is known."""
        clip = Path(str(self.request.path)).name
        asked = {"question": self.question, "answer": self.answer, "clip": clip}
        return asked | {"rows": [*self.rows], "done": done} if self.answer else None

    def updates(self, names: Sequence[str]) -> Iterator[Found]:
        request = self.request
        names = [name for name in names if has_free_ratio(COMPRESSORS[name])]
        request.check(self.question)
        if not names:
            raise ValueError(NO_METHODS)
        yield from map(Found, self.reading())
        video = self.engine.clip(str(request.path), request.sampled)
        clip = request.clip(video, self._needs(names))
        full = yield from self._answered(clip, COMPRESSORS["full"](), "Answering with all tokens…")
        self.answer = full.answer
        for name in names:
            known = list(self._known(clip, name))
            passes = PASSES + len(known)
            found = Least(title_of(name), full.answer, full.cost.visual_tokens, passes=passes)
            for tried, run in known:
                found = found.answered(tried, run)
            while (ratio := found.next_ratio) is not None:
                found = yield from self._tried(found, clip, name, ratio)
            self.rows.append(self._row(found))
            yield Found(value=self.value())
        yield Found(message(), self.value(done=True), done=True)

    def _needs(self, names: Sequence[str]) -> frozenset[str]:
        return frozenset[str]().union(*(COMPRESSORS[name].needs for name in names))

    def _known(self, clip: ClipKey, name: str) -> Iterator[tuple[float, Run]]:
        """Yield ratio and run of earlier answers to the question with this compressor."""
        sides = Sides(question=self.question, sampling=self.request.sampling)
        for run in self.engine.runs.of_clip(clip, self.tried).values():
            ratio = run.compressor.get(RATIO)
            if run.compressor["name"] != name or not isinstance(ratio, float):
                continue
            settings = self.make(name, ratio).settings()
            if run.compressor == settings and sides.are_answered_by(run):
                yield ratio, run

    def _tried(
        self, found: Least, clip: ClipKey, name: str, ratio: float
    ) -> Generator[Found, Any, Least]:
        """Ask the question at one more retention ratio; return the search ``found`` with it."""
        step = f"answer {len(found.tries) + 1} of at most {found.passes}"
        try:
            text = f"{found.method} at {percent(ratio)}: {step}…"
            run = yield from self._answered(clip, self.make(name, ratio), text)
        except ValueError as error:  # the method cannot reach this retention ratio
            return found.refused(ratio, str(error))
        return found.answered(ratio, run)

    def _answered(
        self, clip: ClipKey, compressor: Compressor, text: str
    ) -> Generator[Found, Any, Run]:
        self.renew()
        yield Found(message(text))
        try:
            for update in self.waiting():
                yield Found(update.notice)
            self.encode(clip)
            sampling = self.request.checked_sampling()
            return self.engine.run(clip, self.question, compressor, sampling, self.work)
        finally:
            self.engine.queue.leave(self.work)

    def _row(self, found: Least) -> dict[str, Any]:
        """Return a compressor's row in the table. A click on the row opens the run ``id``.

        It is the run at the lowest ratio that kept the answer, or else the one that lost it.
        """
        below, above = found.below, found.above
        lost = below.run if below else None
        other = f"At {percent(below.ratio)}: “{lost.answer}”" if below and lost else ""
        run = above.run if above else lost
        run_id = self.engine.runs.add(run, self.request.path, self.request.example) if run else ""
        return {"text": str(found), "id": run_id, "other": other}
