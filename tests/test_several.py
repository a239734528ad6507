from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

import gleanvid
from gleanvid.compressors import COMPRESSORS
from tests.models import tiny, tiny_frames, tiny_llava, tiny_qwen
from tests.models.oracle import EveryNth

QUESTIONS = ["What moves?", "Which colour is it?", "What moves?"]


@pytest.mark.parametrize(
    "compressor",
    ["gleanvid", "full", COMPRESSORS["sparsevlm"](0.5)],
    ids=["text-free", "all", "text"],
)
def test_several_questions_share_one_encoding_and_prefill_of_the_video(model, compressor):
    video = tiny.noise_video(6)
    runs = gleanvid.ask_many(video, QUESTIONS, model, compressor, 6)
    assert [run.question for run in runs] == QUESTIONS
    assert runs[0].cost.encode_s > 0 == runs[1].cost.encode_s == runs[2].cost.encode_s
    for run in runs:
        alone = gleanvid.ask(video, run.question, model, compressor, 6)
        assert run.answer == alone.answer
        for layer, record in alone.by_layer.items():
            assert torch.equal(record.keep, run.by_layer[layer].keep)
        assert run.cost.prompt_tokens == alone.cost.prompt_tokens
        assert run.cost.prefill_flops == alone.cost.prefill_flops


def test_empty_list_of_questions_or_an_empty_question_is_refused(model):
    with pytest.raises(ValueError, match="must not be empty"):
        gleanvid.ask_many(tiny.noise_video(), [], model)
    with pytest.raises(ValueError, match="must not be empty"):
        gleanvid.ask_many(tiny.noise_video(), ["what?", " "], model)
    with pytest.raises(ValueError, match="one question"):
        gleanvid.ask_many([tiny.noise_video()], QUESTIONS, model)
    with pytest.raises(TypeError, match="a file, a Video"):
        gleanvid.ask(3, "What?", model)


@pytest.mark.parametrize(
    ("make", "frames"),
    [(tiny_qwen.qwen3_vl, (4, 6)), (tiny_qwen.qwen25_vl, (4, 6)), (tiny_llava.onevision, (4, 4))],
    ids=["qwen3_vl", "qwen2_5_vl", "llava_onevision"],
)
def test_several_videos_of_one_prompt_are_compressed_separately(make, frames, tmp_path):
    make(tmp_path)
    model = gleanvid.load_model(tmp_path, device="cpu")
    videos = [tiny.noise_video(count, seed=seed) for seed, count in enumerate(frames)]
    quarter = EveryNth(0.25)
    runs = gleanvid.ask_many(videos, "What moves?", model, quarter, 6)
    assert [run.video for run in runs] == videos and runs[0].answer == runs[1].answer
    for run, video in zip(runs, videos, strict=True):
        alone = gleanvid.ask(video, "What moves?", model, quarter, 6)
        assert torch.equal(run.compression.keep, alone.compression.keep)
        assert torch.equal(run.rectangles, alone.rectangles)
        assert run.cost.visual_tokens == alone.cost.visual_tokens
    swapped = gleanvid.ask_many(videos[::-1], "What moves?", model, quarter, 6)
    assert [run.cost.visual_tokens for run in swapped[::-1]] == [
        run.cost.visual_tokens for run in runs
    ]


def test_model_family_limited_to_one_video_refuses_several(tmp_path):
    tiny_frames.internvl(tmp_path)
    model = gleanvid.load_model(tmp_path, device="cpu")
    with pytest.raises(gleanvid.ModelError, match="as one video"):
        gleanvid.ask_many([tiny.noise_video(2), tiny.noise_video(2)], "What?", model)


def test_image_file_is_read_as_a_video_of_one_frame(model, tmp_path):
    frame = tiny.noise_video(1, 80, 120).frames[0]
    Image.fromarray(frame).save(tmp_path / "picture.png")
    given = [frame, frame[None], Image.fromarray(frame), tmp_path / "picture.png"]
    runs = [gleanvid.ask(one, "What?", model, "gleanvid", 4) for one in given]
    assert len({run.answer for run in runs}) == 1
    for run in runs:
        assert len(run.video) == 1 and run.video.source_size == (80, 120)
        assert np.array_equal(run.video.frames[0], frame)
    (tmp_path / "none.png").write_bytes(b"nothing")
    with pytest.raises(gleanvid.VideoError, match="as a picture"):
        gleanvid.ask(tmp_path / "none.png", "What?", model)
