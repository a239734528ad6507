import importlib
import json
import sys
from pathlib import Path

import numpy as np

from gleanvid.cli import main
from gleanvid.glimpse.questions.clips import FPS, make_video
from gleanvid.glimpse.world.world import ClipSettings
from gleanvid.video import read_video


def make(folder, *more):
    words = ["--split", "test", "--n", "2", "--num-frames", "16", "--out", str(folder)]
    return main(["glimpse", "make", *words, *more])


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_glimpse_make_writes_clips_that_decode_to_the_generated_frames(tmp_path, capsys):
    assert make(tmp_path / "out") == 0
    clips = lines(tmp_path / "out" / "clips.jsonl")
    assert [clip["index"] for clip in clips] == [0, 1]
    for clip in clips:
        video = read_video(tmp_path / "out" / clip["clip"], num_frames=16)
        expected = make_video(0, "test", clip["index"], ClipSettings(num_frames=16))
        assert np.allclose(video.timestamps, expected.timestamps, atol=1e-3)
        small = video.frames[:, ::2, ::2].astype(float)
        assert np.abs(small - expected.frames).mean() < 8
        assert len(clip["boxes"]) == 16


def test_glimpse_make_writes_questions_with_clip_options_and_evidence_in_seconds(tmp_path, capsys):
    make(tmp_path / "out")
    rows = lines(tmp_path / "out" / "questions.jsonl")
    assert len({row["id"] for row in rows}) == len(rows) >= 4
    for row in rows:
        assert (tmp_path / "out" / row["clip"]).is_file()
        assert row["answer"] in row["options"]
        assert all(0 <= e["start_s"] < e["end_s"] <= 16 / FPS + 1e-9 for e in row["evidence"])


def test_lmms_eval_task_written_by_glimpse_make_asks_and_judges_every_question(
    tmp_path, capsys, monkeypatch
):
    make(tmp_path / "out")
    monkeypatch.syspath_prepend(tmp_path / "out")
    monkeypatch.delitem(sys.modules, "glimpse_task", raising=False)
    task = importlib.import_module("glimpse_task")
    for row in lines(tmp_path / "out" / "questions.jsonl"):
        assert Path(task.visual(row)[0]).is_file()
        assert task.words(row) == row["text"]
        letter = "ABCD"[row["options"].index(row["answer"])]
        assert f"\n{letter}. {row['answer']}\n" in task.letters(row)
        for said, right in (
            (f"{letter}.", True), (f"({letter}) it is", True), (f"{letter}ll", False), ("", False)
        ):  # fmt: skip
            assert task.right_letter(row, [said])["right"] == right
        assert task.right_word(row, [f" {row['answer'].capitalize()}."])["right"]
        assert not task.right_word(row, [letter])["right"]


def test_glimpse_make_refuses_a_folder_with_files_and_leaves_it_unchanged(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("x")
    assert make(tmp_path) == 2
    assert "not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_glimpse_make_example_writes_a_clip_with_thumbnail_and_questions(tmp_path):
    path = tmp_path / "clip.mp4"
    words = ["--index", "3", "--num-frames", "8", "--out", str(path)]
    assert main(["glimpse", "example", *words]) == 0
    facts = json.loads(path.with_suffix(".json").read_text())
    assert facts["split"] == "validation" and facts["questions"]
    assert len(read_video(path, num_frames=8)) == 8
    assert path.with_suffix(".jpg").stat().st_size > 500
