import functools
import json
import os
import signal
import subprocess
import sys

import pytest

from gleanvid.compressors import GleanVID
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.evaluation.run.journal import Journal
from gleanvid.evaluation.run.ray_runner import evaluate_on_workers
from gleanvid.evaluation.run.runner import evaluate
from gleanvid.evaluation.run.setups import Setup
from gleanvid.types import ModelError
from tests.evaluation.fakes import FakeBenchmark, FakeModel, without_times

pytest.importorskip("ray", reason="Ray is not installed (extra: ray)")

BENCHMARK = FakeBenchmark(clips=6, broken=("clip 4",))
SETUPS = [Setup(FullTokens(), 4), Setup(GleanVID(retention_ratio=0.25), 4)]


class KilledOnceAtThirdClip(FakeModel):
    def __init__(self, marker):
        super().__init__()
        self.marker = marker

    def encode(self, video, needs=frozenset(), max_pixels=None):
        if video.name == "clip 2" and not os.path.exists(self.marker):
            with open(self.marker, "w", encoding="utf-8") as file:
                file.write(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return super().encode(video, needs, max_pixels)


class AlwaysKilledAtThirdClip(FakeModel):
    def encode(self, video, needs=frozenset(), max_pixels=None):
        if video.name == "clip 2":
            os.kill(os.getpid(), signal.SIGKILL)
        return super().encode(video, needs, max_pixels)


def fails():
    raise ModelError("the weights are missing")


def alone(tmp_path):
    with Journal(tmp_path / "alone.jsonl", {}) as journal:
        evaluate(FakeModel(), BENCHMARK, BENCHMARK.items(), SETUPS, journal)
        return without_times(journal.rows)


def together(path, load, items=None):
    steps = []
    with Journal(path, {}) as journal:
        asked = BENCHMARK.items() if items is None else items
        evaluate_on_workers(load, 2, 0, BENCHMARK, asked, SETUPS, journal, (), steps.append)
        return without_times(journal.rows), steps


def test_clip_whose_ray_worker_was_killed_is_retried_once(ray_workers, tmp_path):
    marker, path = tmp_path / "killed", tmp_path / "journal.jsonl"
    rows, steps = together(path, functools.partial(KilledOnceAtThirdClip, str(marker)))
    assert int(marker.read_text()) != os.getpid()
    assert rows == alone(tmp_path)
    lines = path.read_text().splitlines()[1:]
    assert len(lines) == len(rows) == 48
    assert (steps[-1].done, steps[-1].total, steps[-1].failed) == (48, 48, 8)


def test_ray_run_resumes_where_another_stopped(ray_workers, tmp_path):
    path, items = tmp_path / "journal.jsonl", BENCHMARK.items()
    together(path, FakeModel, items[:8])
    rows, steps = together(path, FakeModel, items)
    assert rows == alone(tmp_path)
    assert [step.done for step in steps] == list(range(17, 49))


def test_clip_that_kills_every_ray_worker_fails_and_other_clips_are_answered(ray_workers, tmp_path):
    path = tmp_path / "journal.jsonl"
    rows, steps = together(path, AlwaysKilledAtThirdClip)
    expected = alone(tmp_path)
    failed = {key: row for key, row in rows.items() if key[0].startswith("2-")}
    assert len(failed) == 8
    assert all("its worker process died" in row["error"] for row in failed.values())
    assert rows.keys() == expected.keys()
    assert {key: row for key, row in rows.items() if key not in failed} == {
        key: row for key, row in expected.items() if key not in failed
    }
    assert (steps[-1].done, steps[-1].failed) == (48, 16)
    rows, _ = together(path, FakeModel)  # the clip whose worker was killed was tried again
    assert rows == expected


GPUS = """
import json, os, time
import ray
from gleanvid.evaluation.run.ray_cluster import on_workers

def work(model, part, seen):
    time.sleep(0.5)
    return tuple(model), os.getpid()

ray.init("local", num_cpus=4, num_gpus=2, include_dashboard=False, log_to_driver=False)
done = list(on_workers(ray.get_gpu_ids, 3, 1, list(range(8)), str, work))
ray.shutdown()
print(json.dumps([len(done), sorted({ids for ids, _ in done}), len({one for _, one in done})]))
"""


def test_each_ray_worker_has_its_own_gpu_and_surplus_workers_are_logged():
    done = subprocess.run(
        [sys.executable, "-c", GPUS], capture_output=True, text=True, timeout=300, check=True
    )
    assert "2 of 3 workers run: the cluster has 2 GPUs" in done.stderr
    assert "deprecated" not in done.stderr
    # number of finished jobs, GPU ids of each worker, number of worker processes
    assert json.loads(done.stdout) == [8, [[0], [1]], 2]


def test_ray_workers_that_cannot_start_end_the_run_with_a_reason(ray_workers, tmp_path):
    with pytest.raises(ModelError, match="the weights are missing"):
        together(tmp_path / "journal.jsonl", fails)
