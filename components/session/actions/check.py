"""Test whether a loaded model works on this machine (the page's tab Check)."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from gleanvid.types import StoppedError, Video

from ..display import READING, Message, explain, message, progress, waiting
from ..request import NO_ANSWERS, NO_CLIP, Request, can_answer
from ..work.engine import Engine
from ..work.queue import POLL_S, Work

if TYPE_CHECKING:
    from gleanvid.evaluation.check.report import Report

NAME = "gleanvid-check"
ELSEWHERE = "This model runs on another server. Check it there with gleanvid check --model ID."
HOLDS = "All checks passed. Attach the report when you ask for help: it has no names or paths."
STOPPING = "The check stops after its current step…"
TESTED = " The report has the checks that were finished before the stop."
FAILS = "A check failed on this machine. Attach the report to an issue."


# The last complete report on each model, by the name of the model.
_reports: WeakKeyDictionary[Engine, dict[str, Report]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Checked:
    """Changes of the tab Check. If ``report`` is None, the page clears its report."""

    notice: Message
    report: Report | None = None
    done: bool = False


def check(engine: Engine, request: Request, session: str, quick: bool) -> Iterator[Checked]:
    """Test the model of ``request`` on its clip and, unless ``quick``, measure its speed.

    Yields messages on the progress, then the report.
    """
    work = engine.pages.work(session)
    try:
        if not request.path:
            yield Checked(message(NO_CLIP, "problem"), done=True)
            return
        yield Checked(progress(engine, request.model, READING))
        video = engine.clip(str(request.path), request.sampled, work)
        for update in waiting(engine, work):
            yield Checked(update.notice or message())
        with closing(_steps(engine, request.model, video, quick, work)) as steps:
            for step in steps:
                yield _checked(step, work)
    except StoppedError:
        yield Checked(message(work.why or "Stopped."), done=True)
    except Exception as error:
        yield Checked(message(explain(error), "problem"), done=True)
    finally:
        engine.pages.leave(session, work)


def last(engine: Engine, model: str) -> Report | None:
    """Return the last complete report on a model, whichever visitor asked for it."""
    return _reports.get(engine, {}).get(model)


def _checked(step: str | Report, work: Work) -> Checked:
    if isinstance(step, str):
        return Checked(message(step))
    if step.not_tested:
        why = work.why or Work.BY_HAND
        found = step if step.findings else None
        return Checked(message(why + TESTED if found else why), found, done=True)
    notice = message(FAILS, "problem") if step.failed else message(HOLDS)
    return Checked(notice, step, done=True)


def _steps(
    engine: Engine, name: str, video: Video, quick: bool, work: Work
) -> Generator[str | Report]:
    """Yield a message for each step of the test, then the report.

    If the user stops ``work``, the current step still finishes; the report has all finished steps.
    """
    from gleanvid.evaluation.check.check import check as check_model
    from gleanvid.models.base import ModelAdapter

    steps: SimpleQueue[str] = SimpleQueue()

    def on_progress(text: str) -> None:
        if work.stop.is_set():
            raise StoppedError
        steps.put(f"Checking: {text}…")

    def run() -> Report:
        if not can_answer(name):
            raise ValueError(NO_ANSWERS)
        model = engine.model(name)
        if not isinstance(model, ModelAdapter):
            raise ValueError(ELSEWHERE)
        report = check_model(model, video, quick=quick, on_progress=on_progress)
        if not report.not_tested:
            _reports.setdefault(engine, {})[name] = report
        return report

    with ThreadPoolExecutor(1) as pool:
        report, is_stopping = pool.submit(run), False
        try:
            while not (report.done() and steps.empty()):
                if work.stop.is_set() and not is_stopping:
                    is_stopping = True
                    yield STOPPING
                with suppress(Empty):
                    text = steps.get(timeout=POLL_S)
                    if not is_stopping:
                        yield text
        finally:
            work.end()
        yield report.result()


def as_text(report: Report) -> str:
    """Return the report as Markdown with headings one level lower, as they fit the page."""
    return re.sub("^#", "##", report.text(), flags=re.MULTILINE)


def files(report: Report, folder: Path) -> list[str]:
    """Write the report as Markdown and as JSON; return the paths."""
    report.write(folder, NAME)
    return [str(folder / f"{NAME}{suffix}") for suffix in (".md", ".json")]
