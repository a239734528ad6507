"""The check of the loaded model on this machine: what it is at, then its report. No widgets."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from gleanvid.types import StoppedError, Video

from .display import Message, message, progress
from .engine import Engine
from .line import Work
from .request import NO_CLIP, Request
from .updates import explain, waiting

if TYPE_CHECKING:
    from gleanvid.evaluation.check.report import Report

NAME = "gleanvid-check"
ELSEWHERE = "This model runs elsewhere. Check it there: gleanvid check --model ID."
HOLDS = "Everything holds. Attach the report where you ask for help: it has no names or paths."
FAILS = "Something does not hold on this machine. Attach the report to an issue."


@dataclass(frozen=True)
class Checked:
    """What changes in the panel; None leaves a part as it is."""

    notice: Message
    report: Report | None = None
    done: bool = False


def check(engine: Engine, request: Request, session: str, quick: bool) -> Iterator[Checked]:
    """Test, and time unless ``quick``, the model of ``request`` on its clip, in one turn."""
    work = engine.pages.work(session)
    try:
        if not request.path:
            yield Checked(message(NO_CLIP, "problem"), done=True)
            return
        yield Checked(progress(engine, request.model, "Reading the clip…"))
        video = engine.clip(str(request.path), request.frames, work)
        for ahead in waiting(engine, work):
            if ahead.notice:
                yield Checked(ahead.notice)
        with closing(_steps(engine.model(request.model), video, quick, work)) as steps:
            for step in steps:
                yield _checked(step)
    except StoppedError:
        yield Checked(message(work.why or "Stopped."), done=True)
    except Exception as error:
        yield Checked(message(explain(error), "problem"), done=True)
    finally:
        engine.pages.leave(session, work)


def _checked(step: str | Report) -> Checked:
    if isinstance(step, str):
        return Checked(message(f"Checking: {step}…"))
    notice = message(FAILS, "problem") if step.failed else message(HOLDS)
    return Checked(notice, step, done=True)


def _steps(model: Any, video: Video, quick: bool, work: Work) -> Generator[str | Report]:
    """What is being checked, then the report. Ends at the next step once ``work`` is ended."""
    from gleanvid.evaluation.check.check import check as check_model
    from gleanvid.models.base import ModelAdapter

    if not isinstance(model, ModelAdapter):
        raise ValueError(ELSEWHERE)
    heard: SimpleQueue[str | None] = SimpleQueue()

    def tell(text: str) -> None:
        if work.stop.is_set():
            raise StoppedError
        heard.put(text)

    with ThreadPoolExecutor(1) as beside:  # it calls back, and a page wants to be told
        report = beside.submit(check_model, model, video, quick=quick, on_progress=tell)
        report.add_done_callback(lambda _: heard.put(None))
        try:
            yield from iter(heard.get, None)
        finally:
            work.end()
        yield report.result()


def as_text(report: Report) -> str:
    """The report as Markdown whose headings stand below that of a page."""
    return re.sub("^#", "##", report.text(), flags=re.MULTILINE)


def files(report: Report, folder: Path) -> list[str]:
    """The report to take away, as Markdown and as JSON."""
    report.write(folder, NAME)
    return [str(folder / f"{NAME}{suffix}") for suffix in (".md", ".json")]
