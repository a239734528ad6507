from dataclasses import replace
from types import SimpleNamespace

import torch

from components.jobs.display import status, used, with_queue
from components.jobs.engine import Engine
from components.jobs.job import STILL_LOADING, Job
from components.jobs.queue import Work
from components.jobs.request import Request
from components.tokens.answers import answer
from gleanvid import Compression, Uniform
from tests.components.fake import FakeBackend, a_run, moving_square


def run_of():
    record = Compression.pruned(torch.arange(28), (1, 8, 14))
    return a_run(moving_square(2), record, Uniform(0.25), "What moves?", "A square.")


def test_displayed_answer_contains_verdict_and_cost():
    run = run_of()
    entry = answer("a square", "id", "b", run=run, expected="A square.")
    assert (entry["right"], entry["stale"], entry["question"]) == (True, False, "What moves?")
    assert (entry["ttft_s"], entry["flops_saved"], entry["tokens_per_s"]) == (0.304, 0.75, 20.0)
    short = replace(run, cost=replace(run.cost, new_tokens=2))
    assert answer("a", run=short)["tokens_per_s"] is None
    assert answer("a circle", expected="A square.")["right"] is False
    assert answer("a", expected="A square.", running=True)["right"] is None


def test_status_line_is_filled_without_loading_a_model():
    engine = Engine(FakeBackend())
    before = dict(status(engine))
    assert set(before) == {"Model", "Queue"} and before["Queue"] == "idle"
    assert before["Model"] == "none loaded yet" and engine.backend.loads == 0
    job = Job(engine, None, Request("a.mp4", 8, "builtin"))
    assert job.progress("Encoding…")["text"] == f"Encoding… {STILL_LOADING}"
    engine.model("builtin")
    assert job.progress("Encoding…")["text"] == "Encoding…"
    # Another visitor has loaded a second model.
    engine.models.held["another"] = SimpleNamespace(name="another")
    list(engine.queue.wait(Work()))
    after = dict(status(engine, run_of()))
    assert (after["Model"], after["Queue"]) == ("builtin", "in use")
    assert after["Tokens"] == "28 of 112"
    next(engine.queue.wait(Work()))
    assert dict(status(engine))["Queue"] == "1 waiting"
    idle = with_queue(Engine(FakeBackend()), list(map(list, after.items())))
    assert dict(idle) == after | {"Queue": "idle"}


def test_seconds_between_sparsely_sampled_frames_are_stated():
    video = replace(moving_square(32), duration=3600.0, total_frames=18_000)
    said = (
        "Used 32 of 18,000 frames from 1:00:00. One frame every 1:52; a token covers two of them."
    )
    assert used(video, 16) == said
    assert used(video, 32) == said.replace("; a token covers two of them", "")
    assert "every" not in used(moving_square(8), 4)
