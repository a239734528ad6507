"""The four benchmarks and three models of the paper in LMMs-Eval, on tiny clips and weights.

The tasks are LMMs-Eval's own. Their rows come from local files in the published formats.
"""

import json
from pathlib import Path

import pytest

from gleanvid.cli import main
from tests.models import tiny_llava, tiny_qwen
from tests.video.clips import write_clip

lmms_eval = pytest.importorskip("lmms_eval", reason="LMMs-Eval is not installed (extra: eval)")

MODELS = {
    "gleanvid_qwen3_vl": tiny_qwen.qwen3_vl,
    "gleanvid_llava_onevision": tiny_llava.onevision,
    "gleanvid_llava_video": tiny_llava.video_average,
}
# task -> (its file in LMMs-Eval, its split, folder of its clips below HF_HOME)
TASKS = {
    "mvbench": (
        "mvbench/mvbench_action_sequence.yaml",
        "train",
        "mvbench_video/star/Charades_segment",
    ),
    "longvideobench": (
        "longvideobench/longvideobench_val_v.yaml",
        "validation",
        "datasets/longvideobench/videos",
    ),
    "mlvu": ("mlvu/mlvu_dev.yaml", "test", "mlvu"),
    "videomme": ("videomme/videomme.yaml", "test", "videomme/data"),
}
ROWS = {
    "mvbench": {
        "video": "clip.mp4",
        "question": "What happened?",
        "candidates": ["a door opened", "nothing", "a cup fell"],
        "answer": "nothing",
    },
    "longvideobench": {
        "video_path": "clip.mp4",
        "question": "What is shown?",
        **{f"option{number}": text for number, text in enumerate(["a cat", "a dog"])},
        **{f"option{number}": "N/A" for number in (2, 3, 4)},
        "correct_choice": 1,
        "question_category": "T2O",
        "duration_group": 600,
        "id": "clip_0",
        "video_id": "clip",
    },
    "mlvu": {
        "video_name": "clip.mp4",
        "question": "What colour is it?\n(A) Yellow\n(B) Red\n(C) Green\n(D) Blue",
        "answer": "B",
        "task_type": "plotQA",
    },
    "videomme": {
        "videoID": "clip",
        "duration": "short",
        "domain": "Knowledge",
        "sub_category": "Humanity & History",
        "question_id": "001-1",
        "task_type": "Counting Problem",
        "question": "How many apples are there?",
        "options": ["A. One.", "B. Two.", "C. Three.", "D. Four."],
        "answer": "B",
    },
}
TASK = """\
include: {file}
task: tiny_{name}
dataset_path: json
dataset_name: null
dataset_kwargs: {{data_files: {{{split}: {rows}}}}}
"""


@pytest.fixture
def tasks(tmp_path, monkeypatch):
    """Write clips, rows and tasks; return the folder of the tasks."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    folder = tmp_path / "tasks"
    folder.mkdir()
    for name, (file, split, clips) in TASKS.items():
        (tmp_path / "home" / clips).mkdir(parents=True)
        write_clip(tmp_path / "home" / clips / "clip.mp4", num_frames=12)
        (folder / f"{name}.jsonl").write_text(json.dumps(ROWS[name]) + "\n")
        file = Path(lmms_eval.__file__).parent / "tasks" / file
        text = TASK.format(name=name, file=file, split=split, rows=folder / f"{name}.jsonl")
        (folder / f"{name}.yaml").write_text(text)
    return folder


@pytest.mark.parametrize("name", MODELS)
def test_model_answers_the_paper_s_four_benchmarks(name, tasks, tmp_path):
    weights, out = tmp_path / "weights", tmp_path / "out"
    MODELS[name](weights)
    words = ["lmms-eval", "--model", name, "--include_path", str(tasks), "--batch_size", "1"]
    words += ["--tasks", ",".join(f"tiny_{task}" for task in TASKS), "--output_path", str(out)]
    setting = f"pretrained={weights},retention_ratio=0.25,num_frames=4,device=cpu"
    assert main([*words, "--model_args", setting]) == 0
    (report,) = out.rglob("*_results.json")
    assert json.loads(report.read_text())["results"].keys() == {f"tiny_{task}" for task in TASKS}
    header, *rows = map(json.loads, (out / "journal.jsonl").read_text().splitlines())
    assert header["settings"]["system_prompt"] == (
        "You are a helpful assistant." if "qwen" in name else ""
    )
    assert {row["item"].split("/")[0] for row in rows} == {f"tiny_{task}" for task in TASKS}
    for row in rows:
        whole, kept = row["tokens"]
        assert "error" not in row and kept < whole
