"""Our models in stock LMMs-Eval, and our loaders beside its tasks. Skipped where it is missing.

LMMs-Eval comes with the extra ``eval``; its own imports need decord, and it holds PyAV below 16.
"""

import json
import random
import shutil
import sys

import pytest

from gleanvid.cli import main
from gleanvid.compressors import GleanVID
from gleanvid.evaluation.benchmarks import open_benchmark
from gleanvid.evaluation.run.journal import Journal
from gleanvid.evaluation.run.runner import evaluate
from gleanvid.evaluation.run.setups import Setup
from gleanvid.glimpse.questions.make import write_split
from gleanvid.glimpse.world.world import ClipSettings
from tests.evaluation import lmms_task
from tests.evaluation.benchmarks import folders

pytest.importorskip("lmms_eval", reason="LMMs-Eval is not installed (extra: eval)")

SAID = ["A", "B.", "(C)", "D. it is", "the answer is B", "", "E", "no idea", "A cat on a mat, or C"]
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


def test_mvbench_asks_and_judges_as_lmms_eval_does(tmp_path):
    from lmms_eval.tasks.mvbench import utils

    tasks = ",".join(folders.MVBENCH)
    benchmark = open_benchmark("mvbench", data=str(folders.mvbench(tmp_path)), tasks=tasks)
    rows = [row for t, (_, v) in folders.MVBENCH.items() for row in folders.mvbench_rows(t, v)]
    extra = {"post_prompt": "Only give the best option.\n"}
    for item, row in zip(benchmark.items(), rows, strict=True):
        assert benchmark.prompt(item) == utils.mvbench_doc_to_text(row, extra)
        for text in SAID:
            theirs = utils.mvbench_process_results(row, [text])["mvbench_accuracy"]["score"]
            assert benchmark.right(item, text) == bool(theirs)
    assert all(
        utils.DATA_LIST[task] == path.rpartition("/")[0].removesuffix("/test_humor")
        for task, (path, _) in folders.MVBENCH.items()
    )


def test_longvideobench_asks_and_judges_as_lmms_eval_does(tmp_path, monkeypatch):
    from lmms_eval.tasks.longvideobench import utils

    benchmark = open_benchmark("longvideobench", data=str(folders.longvideobench(tmp_path)))
    ask = "Answer with the option's letter from the given choices directly.\n"
    extra = {"pre_prompt": "", "post_prompt": ask}
    rows = folders.longvideobench_parquet_rows()
    for item, row in zip(benchmark.items(), rows, strict=True):
        assert benchmark.prompt(item) == utils.longvideobench_doc_to_text(row, extra)
        monkeypatch.setattr(utils, "random", random.Random(item.id))  # the one thing left to chance
        for text in SAID:
            utils.random.seed(item.id)
            theirs = utils.longvideobench_process_results(row, [text])["lvb_acc"]
            assert benchmark.right(item, text) == (theirs["parsed_pred"] == theirs["answer"])


def test_mlvu_asks_and_judges_as_lmms_eval_does(tmp_path):
    from lmms_eval.tasks.mlvu import utils

    benchmark = open_benchmark("mlvu", data=str(folders.mlvu(tmp_path)))
    extra = {"pre_prompt": "", "post_prompt": "\nOnly give the best option.\nBest option: ("}
    for item, row in zip(benchmark.items(), folders.mlvu_rows(), strict=True):
        assert benchmark.prompt(item) == utils.mlvu_doc_to_text(row, extra)
        for text in SAID:
            theirs = utils.mlvu_process_results(row, [text])["mlvu_percetion_score"]
            assert benchmark.right(item, text) == (theirs["pred_answer"] == theirs["answer"])


@pytest.mark.parametrize("style", ["default", "qwen3_vl"])
def test_videomme_asks_and_judges_as_lmms_eval_does(style, tmp_path):
    from lmms_eval.tasks.videomme import utils

    benchmark = open_benchmark("videomme", data=str(folders.videomme(tmp_path)), style=style)
    ask = "\nAnswer with the option's letter from the given choices directly."
    extra = {"pre_prompt": "", "post_prompt": ask}
    if style == "qwen3_vl":
        extra = {
            "format": "qwen3_vl",
            "pre_prompt": "Question: ",
            "post_prompt": "Answer with the option letter only.",
        }
    for item, row in zip(benchmark.items(), folders.videomme_rows(), strict=True):
        assert benchmark.prompt(item) == utils.videomme_doc_to_text(row, extra)
        for text in SAID:
            theirs = utils.videomme_process_results(row, [text])["videomme_perception_score"]
            assert benchmark.right(item, text) == bool(theirs["score"])


ARGUMENTS = "pretrained=builtin,compressor=gleanvid,retention_ratio=0.25,num_frames=6,device=cpu"


def run(folder, arguments, task="tiny_videos"):
    """What stock LMMs-Eval makes of a task in a folder."""
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
    for number, row in enumerate(found):  # what is right: every other answer that was given
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
    assert len(journal.read_text().splitlines()) == 10  # it failed as before


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
