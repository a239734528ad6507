import numpy as np
import pytest
import torch
from PIL import Image

import gleanvid
from gleanvid.compressors import COMPRESSORS
from tests.models import tiny

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
    with pytest.raises(TypeError, match="a file, a Video"):
        gleanvid.ask(3, "What?", model)


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
    with pytest.raises(gleanvid.VideoError, match="is text"):
        gleanvid.ask(tmp_path / "none.png", "What?", model)
