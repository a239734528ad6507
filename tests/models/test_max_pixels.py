import pytest

from gleanvid.models import load_model
from gleanvid.types import ModelError
from tests.models.conftest import DENSE
from tests.models.tiny import noise_video

SIZED = ("qwen3_vl", "qwen2_5_vl", "qwen2_vl", "qwen3_omni", "glm4v", "video_llama_3", "qwen3_5")
# gemma4 and molmo2 have their own tests of max_pixels.
SQUARE = [family for family in DENSE if family not in (*SIZED, "gemma4", "molmo2")]


@pytest.fixture(params=SIZED)
def sized(request, adapters):
    return adapters[request.param]


@pytest.fixture(params=SQUARE)
def square(request, adapters):
    return adapters[request.param]


def pixels(model, encoded):
    """Return the number of pixels of all frames that the vision tower received."""
    processor = model.processor.video_processor
    units, height, width = encoded.inputs["video_grid_thw"][0].tolist()
    return units * processor.temporal_patch_size * height * width * processor.patch_size**2


@pytest.mark.parametrize(
    ("shape", "per_frame"), [((4, 240, 320), 64 * 64), ((7, 131, 57), 100 * 100)], ids=str
)
def test_clip_stays_within_max_pixels_and_uses_at_least_30_percent_of_it(sized, shape, per_frame):
    limit = per_frame * shape[0]
    used = pixels(sized, sized.encode(noise_video(*shape), max_pixels=limit))
    assert used <= limit
    height, width = shape[1:]
    enough = (shape[0] + shape[0] % 2) * (height + 16) * (width + 16)
    assert used >= 0.3 * min(limit, enough)


def test_max_pixels_may_exceed_the_checkpoint_s_default_and_be_given_to_load_model(sized):
    video = noise_video(8, 300, 400)
    more = load_model(sized.name, device="cpu", max_pixels=8 * 300 * 400)
    few, many = pixels(sized, sized.encode(video)), pixels(more, more.encode(video))
    assert few < many <= 8 * 300 * 400
    assert pixels(more, more.encode(video, max_pixels=8 * 80 * 80)) <= 8 * 80 * 80


def test_clip_that_cannot_fit_into_max_pixels_is_refused(sized):
    with pytest.raises(ModelError, match=r"max_pixels=4000 is too small.*fewer frames"):
        sized.encode(noise_video(8), max_pixels=4000)


def test_clip_of_fixed_size_frames_that_exceeds_max_pixels_is_refused(square):
    video = noise_video(4, 240, 320)
    shape = square.build_inputs(video, square.encode(video).prefix, None)[square.pixel_input].shape
    frame = shape[-2] * shape[-1]
    same = square.encode(video, max_pixels=4 * frame)
    assert same.tokens.grid == square.encode(video).tokens.grid
    with pytest.raises(ModelError, match=rf"4 frames do not fit into max_pixels={4 * frame - 1}"):
        square.encode(video, max_pixels=4 * frame - 1)
    loaded = load_model(square.name, device="cpu", max_pixels=frame)
    with pytest.raises(ModelError, match=f"max_pixels={frame}.*fewer frames"):
        loaded.encode(video)


@pytest.mark.parametrize("value", [0, -5, 1.5, True, "many"])
def test_max_pixels_that_is_no_positive_whole_number_is_refused(qwen3, value):
    with pytest.raises(ValueError, match=r"max_pixels=.* must be a whole number"):
        qwen3.encode(noise_video(2), max_pixels=value)
    with pytest.raises(ValueError, match=r"max_pixels=.* must be a whole number"):
        load_model(qwen3.name, device="cpu", max_pixels=value)
