"""What the LLaVA families share: geometry by painting, fixed pictures, every method at work."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import avg_pool2d

from gleanvid.compressors import COMPRESSORS, declared_settings
from gleanvid.compressors.full_tokens import FullTokens
from gleanvid.models.generation.sampling import Sampling
from gleanvid.types import ModelError, Video
from tests.models.tiny import noise_video


def forms(method):
    """The method as every published variant."""
    declared = declared_settings(method)
    share = {} if method is FullTokens else {"retention_ratio": 0.5}
    names = declared["variant"][2].choices if "variant" in declared else ()
    return [method(variant=name, **share) for name in names] or [method(**share)]


FORMS = [form for method in COMPRESSORS.values() for form in forms(method)]
SIZES = [(5, 70, 100), (4, 131, 57), (1, 64, 64), (3, 96, 200)]


@pytest.fixture(
    params=["llava_onevision", "llava_video", "llava_video_bilinear", "llava_next_video"]
)
def llava(request, adapters):
    return adapters[request.param]


def shown(adapter, frames):
    """Pixels [T, S, S] of what the tower sees, summed over colours."""
    video = Video.from_frames(frames)
    inputs = adapter.build_inputs(video, adapter.chat_text(video, "?", ()), None)
    return inputs["pixel_values_videos"][0].sum(1)


def seen_by_tokens(adapter, change):
    """[T*N]: change [T, S, S] in pixels, by patch and then as the model pools its features."""
    tower = adapter.tower_of(adapter.hf_model)
    patches = avg_pool2d(change[:, None], tower.patch).flatten(2).transpose(1, 2)
    return tower.pool(patches).flatten()


@pytest.mark.parametrize("shape", SIZES, ids=str)
def test_a_painted_rectangle_is_seen_by_its_token(llava, shape):
    frames, height, width = shape
    blank = np.zeros((*shape, 3), np.uint8)
    tokens, empty = llava.encode(Video.from_frames(blank)).tokens, shown(llava, blank)
    assert tokens.grid[0] == frames
    assert len(tokens.rectangles) == tokens.tokens_per_unit
    for token in range(0, len(tokens), 3):
        unit, place = divmod(token, tokens.tokens_per_unit)
        left, top, right, bottom = tokens.rectangles[place].tolist()
        assert 0 <= left < right <= width and 0 <= top < bottom <= height
        x, y = (left + right) / 2, (top + bottom) / 2
        dx, dy = max(1.0, (right - left) * 0.15), max(1.0, (bottom - top) * 0.15)
        painted = blank.copy()
        painted[unit, round(y - dy) : round(y + dy), round(x - dx) : round(x + dx)] = 255
        changed = seen_by_tokens(llava, (shown(llava, painted) - empty).abs())
        assert int(changed.argmax()) == token
        assert changed[token] > 0.6 * changed.sum()


def test_what_is_cut_off_is_no_tokens(adapters):
    """The margins of a wide picture never reach LLaVA-NeXT-Video."""
    model = adapters["llava_next_video"]
    blank = np.zeros((1, 60, 150, 3), np.uint8)
    boxes = model.encode(Video.from_frames(blank)).tokens.rectangles
    assert (boxes[:, 0].min(), boxes[:, 2].max()) == (45, 105)
    assert (boxes[:, 1].min(), boxes[:, 3].max()) == (0, 60)
    painted = blank.copy()
    painted[:, :, :42] = painted[:, :, 108:] = 255
    assert torch.equal(shown(model, painted), shown(model, blank))


def test_rectangles_are_the_sources_even_if_frames_were_shrunk(llava):
    video = noise_video(2, 60, 90)
    large = Video(video.frames, video.timestamps, video.indices, 2.0, 1.0, 2, (600, 900))
    small, big = (llava.encode(one).tokens.rectangles for one in (video, large))
    torch.testing.assert_close(small * 10, big)


def test_each_frame_is_a_unit_at_its_own_time(llava):
    times = np.array([0.0, 0.5, 3.0])
    frames = noise_video(3).frames
    video = Video(frames, times, np.array([0, 7, 31]), 12.5, 10.0, 125, (70, 100))
    seconds = llava.encode(video).tokens.seconds
    assert seconds.tolist() == [[0.0, 0.0], [0.5, 0.5], [3.0, 3.0]]


def test_a_pixel_bound_below_the_picture_is_an_error(llava):
    image = llava.tower_of(llava.hf_model).image
    video = noise_video(3)
    llava.encode(video, max_pixels=3 * image * image)
    with pytest.raises(ModelError, match="fewer frames"):
        llava.encode(video, max_pixels=3 * image * image - 1)


def test_tiny_and_single_frames(llava):
    for shape in [(1, 40, 60), (3, 9, 7), (2, 1, 1)]:
        encoded = llava.encode(Video.from_frames(np.full((*shape, 3), 90, np.uint8)))
        assert encoded.tokens.num_units == shape[0]
        assert llava.generate(encoded, "?", None, Sampling(1)).new_tokens == 1


@pytest.mark.parametrize(
    "compressor", FORMS, ids=lambda form: f"{form.name}-{getattr(form, 'variant', 'own')}"
)
def test_every_method_runs(adapters, compressor):
    """With the signals it needs from the tower, and its stages inside the language model."""
    model, video = adapters["llava_onevision"], noise_video(6)
    encoded = model.encode(video, compressor.needs)
    answer = model.generate(encoded, "what moves?", compressor, Sampling(2))
    assert answer.new_tokens == 2
    first = min(answer.by_layer)
    record = answer.by_layer[first]
    assert record.num_tokens == len(encoded.tokens)
    if first == 0:  # the newline and all text stay, and rows that share a place count each
        dropped = answer.prompt_tokens - answer.prompt_tokens_kept
        assert dropped == record.num_tokens - record.num_kept
