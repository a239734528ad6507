import pytest
import torch

from gleanvid.models.families.minicpmv import MiniCPMV, _grids
from gleanvid.types import ModelError
from tests.models.oracle import model_inputs
from tests.models.tiny import noise_video


@pytest.fixture(params=["minicpmv"])
def model(request, adapters):
    return adapters[request.param]


def test_video_frames_are_not_cut_into_image_slices(model):
    """MiniCPM-V's processor would otherwise cut a frame of this size into slices."""
    video = noise_video(2, 200, 300)
    inputs = model.build_inputs(video, model.chat_text(video, "?", ()), None)
    assert len(inputs["target_sizes_videos"]) == 2
    text = model.processor.tokenizer.decode(inputs["input_ids"][0])
    assert "<slice>" not in text and "<image_id>" not in text
    assert text.count("<image>") == text.count("</image>") == 2


@pytest.mark.parametrize("mode", ["4x", "16x"])
def test_token_grid_depends_on_minicpm_v_s_downsample_mode(model, mode, monkeypatch):
    monkeypatch.setattr(model.hf_model.config, "downsample_mode", mode)
    other = MiniCPMV(model.name, model.hf_model, model.processor)
    tokens = other.encode(noise_video(3, 64, 64), frozenset({"saliency"})).tokens
    assert tokens.grid == ((3, 8, 8) if mode == "4x" else (3, 4, 4))
    assert len(tokens.saliency) == len(tokens)


def test_clip_that_cannot_fit_into_max_pixels_is_refused(model):
    with pytest.raises(ModelError, match=r"max_pixels=1000 .* at least 2048 pixels"):
        model.encode(noise_video(8), max_pixels=1000)


def test_videos_of_a_batch_with_different_numbers_of_frames_keep_their_own_grids(model):
    videos = [noise_video(5), noise_video(8, 64, 128, seed=1)]
    inputs = model_inputs(model, ["a", "b"], videos)
    expected = [model.encode(video).tokens.grid for video in videos]
    assert model.layout.grids(inputs) == expected
    ids = inputs["input_ids"].repeat_interleave(2, 0)
    assert _grids(model.layout.video_token_id, 4, inputs | {"input_ids": ids}) == expected
    assert not torch.equal(inputs["input_ids"][0], inputs["input_ids"][1])
