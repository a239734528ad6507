import json
from pathlib import Path

import numpy as np
import pytest

from components.viewer.truth import truth
from gleanvid.glimpse.world.world import COLOURS
from gleanvid.video import read_video

CLIPS = Path(__file__).parents[3] / "assets" / "clips"
FACTS = sorted(path for path in CLIPS.glob("glimpse_*.json"))


@pytest.mark.parametrize("facts", FACTS, ids=lambda path: path.stem)
def test_outlines_of_the_object_that_a_question_asks_about_contain_its_pixels(facts):
    video = read_video(facts.with_suffix(".mp4"), 32)
    known = json.loads(facts.read_text(encoding="utf-8"))
    for item in known["questions"]:
        if item["family"] != "shape" or len(item["evidence"]) != 1:
            continue
        found = truth(facts, item["text"], video)
        assert found is not None and found["label"] == item["answer"]
        assert found["question"] == item["text"] and item["answer"] in found["names"][0]
        colour = np.array(COLOURS[known["things"][item["evidence"][0]["thing"]]["colour"]])
        checked = 0
        for frame, places in zip(video.frames, found["boxes"], strict=True):
            near = np.abs(frame.astype(int) - colour).max(axis=2) < 40
            for left, top, right, bottom in places:
                height, width = near.shape
                inside = np.zeros_like(near)
                rows = slice(int(top * height), int(bottom * height) + 2)
                inside[rows, int(left * width) : int(right * width) + 2] = True
                checked += int(near.sum())
                assert (near & ~inside).sum() <= 0.05 * near.sum()
        assert checked > 0


def test_unknown_clips_and_questions_have_no_outlined_object(tmp_path):
    video = read_video(CLIPS / "glimpse_1.mp4", 8)
    assert truth(tmp_path / "none.json", "What moves?", video) is None
    assert truth(CLIPS / "glimpse_1.json", "Who is that?", video) is None
