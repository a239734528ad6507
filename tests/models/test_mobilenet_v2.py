import threading

import numpy as np
import pytest
import torch
from torchvision.models import mobilenet_v2
from transformers import MobileNetV2ForImageClassification

import gleanvid
from gleanvid.models.loading.load import BUILTIN, PHOTOS
from gleanvid.types import ModelError, StoppedError, Video


@pytest.fixture(scope="module")
def model():
    return gleanvid.load_model("mobilenet_v2", device="cpu")


def clip(height=90, width=160, count=3):
    frames = np.random.default_rng(0).integers(0, 256, (count, height, width, 3), np.uint8)
    return Video.from_frames(frames, fps=2.0)


def test_mobilenet_features_equal_those_of_torchvision(model):
    theirs = mobilenet_v2().eval()
    published = MobileNetV2ForImageClassification.from_pretrained(BUILTIN.with_name(PHOTOS))
    weights = published.float().state_dict().values()
    theirs.load_state_dict(dict(zip(theirs.state_dict(), weights, strict=True)))
    pixels = torch.randn(2, 3, 96, 160, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        features = model.hf_model.mobilenet_v2(pixels).last_hidden_state
        assert (features - theirs.features(pixels)).abs().max() < 1e-5
        assert (model.hf_model(pixels).logits - theirs(pixels)).abs().max() < 1e-4


@pytest.mark.parametrize(
    ("size", "grid"),
    [((90, 160), (10, 18)), ((160, 90), (19, 10)), ((64, 64), (14, 14)), ((1, 900), (1, 196))],
)
def test_photo_encoder_s_token_grid_follows_the_frame_shape(model, size, grid):
    assert model._grid(clip(*size), None) == grid


def test_photo_encoder_s_token_rectangles_cover_the_source_frame(model):
    encoded = model.encode(clip(), max_pixels=3 * 64 * 128)
    assert encoded.tokens.grid == (3, 2, 4)
    assert encoded.tokens.features.shape == (24, 1280)
    assert encoded.tokens.rectangles[-1].tolist() == [120.0, 45.0, 160.0, 90.0]
    assert encoded.tokens.seconds[:, 0].tolist() == [0.0, 0.5, 1.0]


def test_photo_encoder_does_not_exceed_max_pixels(model):
    for pixels in range(3 * 32 * 32, 3 * 450 * 450, 4567):
        rows, columns = model._grid(clip(70, 110), pixels)
        assert 3 * rows * columns * 32 * 32 <= pixels
    with pytest.raises(ModelError, match="too small for 3 frames"):
        model.encode(clip(), max_pixels=3 * 32 * 32 - 1)
    with pytest.raises(ValueError, match="max_pixels=0 must be"):
        model.encode(clip(), max_pixels=0)


def test_photo_encoder_refuses_a_question_before_encoding(model, monkeypatch):
    monkeypatch.setattr(type(model), "encode", None)
    with pytest.raises(ModelError, match="Load a Video LLM to ask"):
        gleanvid.ask(clip(), "What moves?", model)
    with pytest.raises(ModelError, match="Load a Video LLM to ask"):
        gleanvid.ask_many(clip(), ["What moves?"], model)
    with pytest.raises(ModelError, match="Load a Video LLM to ask"):
        next(gleanvid.compare(clip(), "What moves?", model, ["full"]))


def test_photo_encoder_refuses_to_compute_saliency_and_obeys_the_stop_event(model):
    with pytest.raises(ModelError, match="no saliency"):
        model.encode(clip(), frozenset({"saliency"}))
    stop = threading.Event()
    stop.set()
    with pytest.raises(StoppedError):
        model.encode(clip(), stop=stop)
