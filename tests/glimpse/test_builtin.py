"""The shipped weights: what they are, what they weigh, and that they really see."""

import numpy as np
import pytest
from transformers import AutoModelForImageTextToText, AutoProcessor, Qwen3VLForConditionalGeneration

from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.glimpse.clips import write_mp4
from gleanvid.glimpse.evaluate import ask_about, make_video, summary, wilson
from gleanvid.glimpse.questions import HEADLINE, normalise
from gleanvid.glimpse.render import render
from gleanvid.glimpse.world import ClipSettings, sample_scene
from gleanvid.models import load_model
from gleanvid.models.load import BUILTIN
from gleanvid.video import read_video

SETTINGS = ClipSettings(num_frames=8)


@pytest.fixture(scope="module")
def adapter():
    return load_model("builtin", device="cpu")


def accuracy(adapter, clips, limit):
    """Share of right answers over the headline questions of validation clips."""
    rights = []
    for index in clips:
        encoded = adapter.encode(make_video(0, "validation", index, SETTINGS))
        for question in ask_about(0, "validation", index, SETTINGS):
            if question.family in HEADLINE and len(rights) < limit:
                given = adapter.generate(encoded, question.text, FullTokens(), max_new_tokens=12)
                rights.append(normalise(given.text) == question.answer)
    return np.mean(rights)


def test_the_directory_is_a_small_qwen3_vl_with_deepstack_and_no_code():
    model = AutoModelForImageTextToText.from_pretrained(BUILTIN)
    assert type(model) is Qwen3VLForConditionalGeneration
    assert sum(weight.numel() for weight in model.parameters()) <= 15e6
    assert sum(path.stat().st_size for path in BUILTIN.iterdir()) <= 25e6
    assert model.config.text_config.hidden_size >= 320
    assert len(model.config.vision_config.deepstack_visual_indexes) >= 2
    assert not list(BUILTIN.glob("*.py"))
    assert (BUILTIN / "MODEL_CARD.md").is_file()


@pytest.mark.parametrize("size", [(160, 160), (320, 320), (1080, 1920), (90, 400), (96, 64)])
@pytest.mark.parametrize("count", [2, 9, 64])
def test_any_video_is_squashed_to_at_most_100_tokens_a_unit(size, count):
    processor = AutoProcessor.from_pretrained(BUILTIN)
    videos = processor.video_processor(
        videos=[np.zeros((min(count, 9), *size, 3), np.uint8)],
        do_sample_frames=False,
        return_tensors="pt",
    )
    units, rows, columns = videos["video_grid_thw"][0].tolist()
    assert units == -(-min(count, 9) // 2)
    assert rows * columns / 4 <= 100


def test_it_answers_held_out_questions_in_words(adapter):
    assert accuracy(adapter, range(500, 512), 30) >= 0.6


def test_it_answers_from_compressed_files(adapter, tmp_path):
    rights = []
    for index in range(600, 604):
        write_mp4(render(sample_scene(0, "validation", index))[0], tmp_path / "clip.mp4", fps=8)
        video = read_video(tmp_path / "clip.mp4", num_frames=16)
        assert video.frames.shape[1:3] == (320, 320)
        encoded = adapter.encode(video)
        assert encoded.tokens.grid == (8, 10, 10)
        for question in ask_about(0, "validation", index, ClipSettings()):
            if question.family in HEADLINE:
                given = adapter.generate(encoded, question.text, FullTokens(), max_new_tokens=12)
                rights.append(normalise(given.text) == question.answer)
    assert np.mean(rights) >= 0.6


def test_intervals_hold_the_share_and_shrink_with_n():
    for right, n in ((0, 10), (10, 10), (30, 50), (300, 500)):
        low, high = wilson(right, n)
        assert 0 <= low <= right / n <= high <= 1 + 1e-12
    assert np.diff(wilson(300, 500)) < np.diff(wilson(30, 50))


def test_chance_is_the_share_of_the_commonest_answer():
    row = {"family": "colour", "right": True}
    rows = [row | {"answer": answer} for answer in ("red", "red", "blue", "green")]
    assert summary(rows)["colour"]["chance"] == 0.5
