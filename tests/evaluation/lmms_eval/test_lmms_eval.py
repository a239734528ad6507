"""Our models in stock LMMs-Eval. Skipped where it is missing.

LMMs-Eval comes with the extra ``eval``; its own imports need decord, and it holds PyAV below 16.
"""

import json
import shutil
import sys

import pytest

from gleanvid.cli import main
from gleanvid.compressors import GleanVID
from gleanvid.evaluation.run.journal import Journal
from gleanvid.evaluation.run.runner import evaluate
from gleanvid.evaluation.run.setups import Setup
from gleanvid.glimpse.questions.make import write_split
from gleanvid.glimpse.world.world import ClipSettings
from tests.evaluation import lmms_task

pytest.importorskip("lmms_eval", reason="LMMs-Eval is not installed (extra: eval)")


MODELS = ("gleanvid_qwen3_vl", "gleanvid_llava_onevision", "gleanvid_llava_video")


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("name", MODELS)
def test_the_models_are_in_stock_lmms_eval(name):
    from lmms_eval.api.model import lmms
    from lmms_eval.models import get_model

    found = get_model(name)
    assert issubclass(found, lmms)
    assert not found.is_simple


ARGUMENTS = "pretrained=builtin,compressor=gleanvid,retention_ratio=0.25,num_frames=6,device=cpu"


def run(folder, arguments, task="tiny_videos"):
    """Run stock LMMs-Eval on a task in a folder; return its results."""
    from lmms_eval.evaluator import simple_evaluate
    from lmms_eval.tasks import TaskManager

    manager = TaskManager(include_path=str(folder), model_name=MODELS[0])
    return simple_evaluate(
        model=MODELS[0],
        model_args=arguments,
        tasks=[task],
        task_manager=manager,
        batch_size=1,
        log_samples=True,
    )


def test_a_real_run_gives_our_own_runner_s_answers_and_score(tmp_path, monkeypatch):
    folder = lmms_task.make(tmp_path)
    monkeypatch.setattr(sys, "argv", ["lmms-eval"])
    benchmark, setup = lmms_task.Tiny(str(folder)), Setup(GleanVID(retention_ratio=0.25), 6)
    first = asked_by_us(benchmark, setup, folder / "ours.jsonl")
    found = lmms_task.rows(folder)
    for number, row in enumerate(found):  # make every other answer the right one
        said = first[str(number), setup.key].get("said", {}).get("text", "?")
        row["answer"] = said if number % 2 == 0 else said + "?"
    lmms_task.save(folder, found)
    ours = asked_by_us(benchmark, setup, folder / "ours2.jsonl")
    score = sum("error" not in row and row["right"][0] for row in ours.values()) / len(ours)
    assert 0 < score < 1

    journal = folder / "theirs" / "journal.jsonl"
    report = run(folder, f"{ARGUMENTS},journal={journal.parent}")
    assert report["results"]["tiny_videos"]["right,none"] == pytest.approx(score)
    answers = [sample["filtered_resps"][0] for sample in report["samples"]["tiny_videos"]]
    texts = [row.get("said", {}).get("text", "(no answer)") for row in ours.values()]
    assert answers == texts
    lines = [json.loads(line) for line in journal.read_text().splitlines()[1:]]
    assert [("error" in line) for line in lines] == [False] * 3 + [True] * 3 + [False] * 3
    assert "clip1.mp4" in lines[3]["error"]

    again = run(folder, f"{ARGUMENTS},journal={journal.parent}")  # only what failed is tried again
    assert again["results"]["tiny_videos"]["right,none"] == pytest.approx(score)
    assert len(journal.read_text().splitlines()) == 10  # the question failed again


def asked_by_us(benchmark, setup, path):
    from gleanvid.models import load_model

    with Journal(path, {}) as journal:
        evaluate(load_model("builtin", "cpu"), benchmark, benchmark.items(), [setup], journal)
        return dict(journal.rows)


@pytest.mark.parametrize("task", ["glimpse", "glimpse_words"])
def test_a_folder_of_glimpse_clips_is_a_task(task, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["lmms-eval"])
    write_split("test", 1, tmp_path / "clips", settings=ClipSettings(num_frames=16))
    report = run(tmp_path / "clips", ARGUMENTS, task)
    samples = report["samples"][task]
    told = (tmp_path / "clips" / "questions.jsonl").read_text().splitlines()
    assert len(samples) == len(told) > 3
    assert report["results"][task]["right,none"] == pytest.approx(
        sum(sample["right"] for sample in samples) / len(samples)
    )


def test_the_launcher_keeps_answers_and_fails_where_a_question_did(tmp_path):
    folder, out = lmms_task.make(tmp_path), tmp_path / "out"
    given = ["lmms-eval", "--model", MODELS[0], "--include_path", str(folder), "--batch_size", "1"]
    given += ["--tasks", "tiny_videos", "--model_args", ARGUMENTS, "--output_path", str(out)]
    assert main(given) == 1
    lines = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()[1:]]
    assert sum("error" in line for line in lines) == 3
    shutil.copy(folder / "clip0.mp4", folder / "clip1.mp4")
    assert main(given) == 0
    assert len((out / "journal.jsonl").read_text().splitlines()) == 1 + 9 + 3
