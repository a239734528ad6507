"""What people hand over by mistake is named in words; compressors may be named."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import gleanvid
from gleanvid.compressors import as_compressor
from tests.models import tiny, tiny_qwen


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model")
    tiny_qwen.qwen3_vl(path)
    return gleanvid.load_model(path, device="cpu")


@pytest.mark.parametrize("features", [np.zeros((8, 4), np.float32), [[0.0] * 4] * 8, None])
def test_features_are_a_tensor(features):
    with pytest.raises(TypeError, match=r"torch\.Tensor"):
        gleanvid.VideoTokens(features, grid=(2, 2, 2))


def test_features_hold_numbers_to_compute_with():
    with pytest.raises(ValueError, match="meta"):
        gleanvid.VideoTokens(torch.zeros(8, 4, device="meta"), grid=(2, 2, 2))
    with pytest.raises(ValueError, match="float8"):
        gleanvid.VideoTokens(torch.zeros(8, 4).to(torch.float8_e4m3fn), grid=(2, 2, 2))


@pytest.mark.parametrize("question", [None, 3, ["what?", 3], b"what?"])
def test_a_question_is_text(question):
    with pytest.raises(TypeError, match="must be text"):
        gleanvid.ask("nowhere.mp4", question)


@pytest.mark.parametrize(("given", "kind"), [("gzip", ValueError), (0.25, TypeError)])
def test_what_is_no_compressor_is_said_before_anything_is_loaded(given, kind):
    with pytest.raises(kind, match="vidcom2"):
        gleanvid.ask("nowhere.mp4", "What?", compressor=given)


def test_a_compressor_may_be_named(model):
    video = tiny.noise_video()
    named = gleanvid.ask(video, "what?", model, "uniform", 2)
    assert named.compressor == gleanvid.Uniform().settings()
    runs = list(gleanvid.compare(video, "what?", model, ["uniform", gleanvid.Uniform()], 2))
    assert runs[0].compressor == runs[1].compressor
    assert as_compressor(None) is None
    with gleanvid.compressing(model.hf_model, "uniform") as record:
        assert record is not None


def test_one_name_to_compare_is_not_read_letter_by_letter(model):
    [run] = gleanvid.compare(tiny.noise_video(), "what?", model, "uniform", 2)
    assert run.compressor == gleanvid.Uniform().settings()


@pytest.mark.parametrize("given", [None, torch.nn.Linear(1, 1)])
def test_what_is_no_model_is_said(given):
    video = tiny.noise_video()
    with pytest.raises(TypeError, match="load_model"):
        gleanvid.ask(video, "what?", given)
    with pytest.raises(TypeError, match="load_model"):
        gleanvid.compare(video, "what?", given, ["uniform"])


def test_frames_without_colours_are_named(model):
    with pytest.raises(ValueError, match=r"uint8 \[T, H, W, 3\], got \[8, 8\]"):
        gleanvid.ask(np.zeros((8, 8), np.uint8), "what?", model)


def test_no_videos_are_named(model):
    with pytest.raises(ValueError, match="must not be empty"):
        gleanvid.ask([], "what?", model)


def test_one_model_is_compressed_once_at_a_time(model):
    with gleanvid.compressing(model.hf_model, gleanvid.Uniform()):
        inner = gleanvid.compressing(model.hf_model, gleanvid.Random())
        with pytest.raises(gleanvid.ModelError, match="compressed already"), inner:
            pass
    with gleanvid.compressing(model.hf_model, gleanvid.Random()):
        pass
