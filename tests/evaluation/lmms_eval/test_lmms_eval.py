"""GleanVID's models in unmodified LMMs-Eval; skipped if LMMs-Eval is not installed.

The extra ``eval`` installs LMMs-Eval, which imports decord and requires PyAV below 16.
"""

import json
import sys

import pytest

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
def test_gleanvid_models_are_registered_in_unmodified_lmms_eval(name):
    from lmms_eval.api.model import lmms
    from lmms_eval.models import get_model

    found = get_model(name)
    assert issubclass(found, lmms)
    assert not found.is_simple


ARGUMENTS = "pretrained=builtin,compressor=gleanvid,retention_ratio=0.25,num_frames=6,device=cpu"


def run(folder, arguments, task="tiny_videos"):
    """Run unmodified LMMs-Eval on a task defined in ``folder``; return its results."""
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


def test_lmms_eval_run_gives_the_answers_and_score_of_gleanvid_eval(tmp_path, monkeypatch):
    folder = lmms_task.make(tmp_path)
    monkeypatch.setattr(sys, "argv", ["lmms-eval"])
    benchmark, setup = lmms_task.Tiny(str(folder)), Setup(GleanVID(retention_ratio=0.25), 6)
    first = asked_by_us(benchmark, setup, folder / "ours.jsonl")
    found = lmms_task.rows(folder)
    for number, row in enumerate(found):  # change the questions so that every other answer is right
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

    # only the question that failed is tried again
    again = run(folder, f"{ARGUMENTS},journal={journal.parent}")
    assert again["results"]["tiny_videos"]["right,none"] == pytest.approx(score)
    assert len(journal.read_text().splitlines()) == 10  # the question failed again


def asked_by_us(benchmark, setup, path):
    from gleanvid.models import load_model

    with Journal(path, {}) as journal:
        evaluate(load_model("builtin", "cpu"), benchmark, benchmark.items(), [setup], journal)
        return dict(journal.rows)


@pytest.mark.parametrize("task", ["glimpse", "glimpse_words"])
def test_folder_written_by_glimpse_make_is_an_lmms_eval_task(task, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["lmms-eval"])
    settings = ClipSettings(num_frames=16)
    write_split("test", 1, tmp_path / "clips", settings=settings)
    report = run(tmp_path / "clips", ARGUMENTS, task)
    samples = report["samples"][task]
    told = (tmp_path / "clips" / "questions.jsonl").read_text().splitlines()
    assert len(samples) == len(told) > 3
    assert report["results"][task]["right,none"] == pytest.approx(
        sum(sample["right"] for sample in samples) / len(samples)
    )
