import pytest

from gleanvid.types import ModelError
from tests.models.tiny import noise_video


@pytest.fixture(params=["molmo2"])
def model(request, adapters):
    return adapters[request.param]


def test_molmo2_prompt_contains_the_true_frame_times(model):
    video = noise_video(4)
    ids = model.build_inputs(video, model.chat_text(video, "?", ()), None)["input_ids"]
    text = model.processor.tokenizer.decode(ids[0])
    assert [f"{time} <frame_start>" in text for time in ("0.0", "0.5", "1.0", "1.5")] == [True] * 4


def test_molmo2_clip_of_fixed_size_frames_that_exceeds_max_pixels_is_refused(model):
    video = noise_video(4)
    assert model.encode(video, max_pixels=4 * 84 * 84).tokens.grid == (4, 2, 2)
    with pytest.raises(ModelError, match="4 frames do not fit into max_pixels=28223"):
        model.encode(video, max_pixels=4 * 84 * 84 - 1)
