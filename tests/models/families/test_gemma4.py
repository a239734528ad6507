import pytest
import torch

from gleanvid.models import compressing, load_model
from gleanvid.types import ModelError
from tests.models.oracle import QUESTIONS, EveryNth, model_inputs
from tests.models.tiny import noise_video

QUARTER = EveryNth(retention_ratio=0.25)


@pytest.fixture
def small(adapters):
    return adapters["gemma4"]


def test_error_for_eager_attention_with_gemma4_names_the_alternatives(small):
    with pytest.raises(ModelError, match=r"attn_implementation='eager'.*sdpa"):
        load_model(small.name, device="cpu", attn_implementation="eager")


def test_token_signals_are_refused_if_the_model_has_no_vision_tower(adapters):
    unified = adapters["gemma4_unified"]
    for needs in ({"saliency"}, {"saliency", "keys"}):
        with pytest.raises(ModelError, match=r"no vision tower.*saliency.*needs neither"):
            unified.encode(noise_video(2), frozenset(needs))
    assert unified.encode(noise_video(2)).tokens.num_units == 2


def test_audio_input_is_refused_while_compressing(small):
    inputs = model_inputs(small, QUESTIONS[:1])
    with pytest.raises(ModelError, match="remove the sound"), compressing(small.hf_model, QUARTER):
        small.hf_model(**inputs, input_features=torch.zeros(1, 8, 128))


def test_max_pixels_sets_the_number_of_tokens_per_frame(small):
    """Gemma 4 encodes a frame as at most 70, 140, 280, ... tokens, depending on max_pixels."""
    video = noise_video(4, 240, 320)
    for most in (70, 140, 280):
        encoded = small.encode(video, max_pixels=4 * 144 * (2 * most - 1))
        assert 0.7 * most < encoded.tokens.tokens_per_unit <= most
    with pytest.raises(ModelError, match=r"at least 40320 pixels: use fewer frames"):
        small.encode(video, max_pixels=40319)
