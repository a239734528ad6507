"""Find each compressor's lowest retention ratio that gives the same answer as all tokens."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gleanvid.compressors import COMPRESSORS, title_of
from gleanvid.compressors.base import Compressor
from gleanvid.metrics.least import Least, percent
from gleanvid.models.encoded import ClipKey
from gleanvid.run import Run

from ..jobs.display import Message, message
from ..jobs.engine import Engine
from ..jobs.job import Job
from ..jobs.methods import has_free_ratio
from ..jobs.request import Request

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
) -> Iterator[Found]:
    """Find the lowest ratio of each compressor in ``names`` that keeps the answer.

    ``make`` returns a compressor from its name and a retention ratio. Between two answers, other
    visitors may use the model.
    """
    search = _Search(engine, session, request, question, make)

    def last(notice: Message) -> Found:
        return Found(notice, search.value(done=True), done=True)

    yield from search.run(search.updates(names), last)


@dataclass(eq=False)
class _Search(Job):
    """State of the search for the lowest ratios: clip, question and the answer with all tokens."""

    question: str
    make: Callable[[str, float], Compressor]
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
            found = Least(title_of(name), full.answer, full.cost.visual_tokens)
            while (ratio := found.next_ratio) is not None:
                found = yield from self._tried(found, clip, name, ratio)
            self.rows.append(self._row(found))
            yield Found(value=self.value())
        yield Found(message(), self.value(done=True), done=True)

    def _needs(self, names: Sequence[str]) -> frozenset[str]:
        return frozenset[str]().union(*(COMPRESSORS[name].needs for name in names))

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
        """Return a compressor's row in the table. A click on the row opens the run ``id``."""
        below, above = found.below, found.above
        lost = below.run if below else None
        other = f"At {percent(below.ratio)}: “{lost.answer}”" if below and lost else ""
        run = lost or (above.run if above else None)
        run_id = self.engine.runs.add(run, self.request.path, self.request.example) if run else ""
        return {"text": str(found), "id": run_id, "other": other}
