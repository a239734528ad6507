from __future__ import annotations

import json
import threading
from contextlib import suppress
from pathlib import Path

import pytest
import torch

from components.session.actions import check as checking
from components.session.request import NO_CLIP, Request
from components.session.work.engine import Engine
from components.session.work.local import BUILT_IN, LocalBackend
from gleanvid import GleanVID
from gleanvid.evaluation.check import check
from gleanvid.evaluation.check.report import Finding, Report
from gleanvid.evaluation.provenance import describe_machine
from gleanvid.types import StoppedError
from tests.components import fake

pytestmark = pytest.mark.usefixtures("cache")
FACTS = {
    "machine": describe_machine(torch.device("cpu")),
    "model": {"name": "m", "class": "M", "dtype": "d", "attention": "a", "processor": "P"},
    "clip": {
        "frames": 2,
        "frame_size": [4, 4],
        "decoder": "pyav",
        "frames_tested": 2,
        "tokens_tested": 9,
    },
}


@pytest.fixture(scope="module")
def engine():
    engine = Engine(LocalBackend({BUILT_IN: {"device": "cpu"}}, {"device": "cpu"}))
    engine.model(BUILT_IN)
    return engine


def checked(engine, clip, quick=True, heard=lambda update: None, model=BUILT_IN):
    assert engine.pages.start("me")
    updates = []
    for update in checking.check(engine, Request(clip, 8, model, GleanVID), "me", quick):
        heard(update)
        updates.append(update)
    assert len(engine.queue) == 0 and not engine.pages.busy("me")
    return updates


@pytest.mark.slow
def test_check_of_a_model_reports_every_check_and_saves_the_report(engine, clip, tmp_path):
    updates = checked(engine, clip)
    told = " ".join(update.notice["text"] for update in updates)
    assert "Checking: positions…" in told and "Checking: hooks…" in told
    last = updates[-1]
    assert last.notice["text"] == checking.HOLDS and last.done and not last.report.failed
    text, data = map(Path, checking.files(last.report, tmp_path / "new"))
    assert json.loads(data.read_text())["passed"] and "all checks passed" in text.read_text()
    assert checking.as_text(last.report).startswith("## GleanVID on this machine")


def test_failed_check_is_shown_as_a_problem(engine, clip, monkeypatch):
    broken = Report(FACTS, (Finding("rows", "of features", 3, 0, "columns"),))
    monkeypatch.setattr(check, "check", lambda *args, **more: broken)
    last = checked(engine, clip)[-1]
    assert last.notice == {"text": checking.FAILS, "kind": "problem"}
    # The Check tab shows this stored report when it is opened again.
    assert checking.last(engine, BUILT_IN) is broken
    assert checking.last(engine, "another") is None
    assert "`rows`" in checking.as_text(last.report) and "FAILED" in checking.as_text(last.report)


def test_stopped_check_ends_at_its_next_step(engine, clip, monkeypatch):
    steps, told = [], threading.Event()

    def endless(model, video, quick, on_progress):
        tested = []
        with suppress(StoppedError):
            for number in range(10_000):
                on_progress(f"step {number}")
                if number == 3:
                    told.wait(20)
                tested.append(Finding(f"law {number}", "of features", 0, 0, "columns"))
        steps.extend(tested)
        return Report(FACTS, tuple(tested), not_tested=("times",))

    monkeypatch.setattr(check, "check", endless)

    def stop(update):
        if update.notice["text"] == "Checking: step 3…":
            engine.pages.stop("me")
        if update.notice["text"] == checking.STOPPING:
            told.set()

    *_, stopping, last = checked(engine, clip, heard=stop)
    assert stopping.notice["text"] == checking.STOPPING
    assert last.notice["text"] == "Stopped." + checking.TESTED and last.done
    assert last.report.findings == tuple(steps) and len(steps) == 4
    said = checking.as_text(last.report)
    assert "`law 3`" in said and "stopped" in said and "Not tested: times" in said


def test_abandoned_check_frees_the_model(engine, clip, monkeypatch):
    monkeypatch.setattr(
        check, "check", lambda *args, on_progress, **more: [on_progress("on") for _ in range(10**6)]
    )
    engine.pages.start("me")
    updates = checking.check(engine, Request(clip, 8, BUILT_IN, GleanVID), "me", True)
    next(text for text in (update.notice["text"] for update in updates) if "Checking" in text)
    updates.close()
    assert len(engine.queue) == 0 and not engine.pages.busy("me")


def test_models_that_cannot_be_checked_are_refused_with_a_reason(engine, clip):
    assert checked(engine, None)[-1].notice == {"text": NO_CLIP, "kind": "problem"}
    elsewhere = checked(Engine(fake.FakeBackend()), clip, model="builtin")
    assert elsewhere[-1].notice == {"text": checking.ELSEWHERE, "kind": "problem"}
