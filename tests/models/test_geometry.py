"""Painting source pixels changes mainly the token whose rectangle contains the pixels.

The vision tower is changed so that its patches do not mix. Other tokens may still change a little,
because resizing a frame mixes pixels at the edges of the rectangle.
"""

import numpy as np
import pytest
import torch

from gleanvid.models.generation.sampling import Sampling
from gleanvid.types import Video

SHAPES = [(5, 70, 100), (4, 131, 57)]


@pytest.fixture
def adapter(every_adapter):
    return every_adapter


@pytest.fixture
def blind(adapter):
    """A model whose vision tower does not mix patches: its attention outputs are zero."""
    silenced = []
    for name, module in adapter.layout.tower.named_modules():
        if "attn" in name.lower() or "attention" in name.lower():
            last = name.removesuffix(".linear").rsplit(".", 1)[-1]
            if last in ("proj", "o_proj", "out_proj", "projection_layer") and hasattr(
                module, "weight"
            ):
                silenced.append((module, module.weight.detach().clone()))
                torch.nn.init.zeros_(module.weight)
    assert silenced or adapter.layout.vision_attention is None
    yield adapter
    for module, weight in silenced:
        module.weight.data.copy_(weight)


def painted(video, unit_frames, rectangle):
    """Return the frames with the middle of a rectangle (in source pixels) painted white."""
    left, top, right, bottom = rectangle
    x, y = (right - left) * 0.3, (bottom - top) * 0.3
    columns = slice(round(left + x), max(round(right - x), round(left + x) + 1))
    rows = slice(round(top + y), max(round(bottom - y), round(top + y) + 1))
    frames = video.frames.copy()
    frames[unit_frames, rows, columns] = 255
    return Video.from_frames(frames, fps=2.0)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_painting_a_token_s_rectangle_changes_that_token_s_features_most(blind, shape):
    video = Video.from_frames(np.full((*shape, 3), 40, np.uint8), fps=2.0)
    encoded = blind.encode(video)
    tokens = encoded.tokens
    per_unit = tokens.tokens_per_unit
    frames_per_unit = -(-len(video) // tokens.num_units)
    # the step between the tested tokens is odd, so that even and odd columns are tested
    step = max(1, len(tokens) // 6) | 1
    for token in range(0, len(tokens), step):
        unit, place = divmod(token, per_unit)
        own = slice(unit * frames_per_unit, (unit + 1) * frames_per_unit)
        shown = blind.encode(painted(video, own, tokens.rectangles[place].tolist()))
        changed = (shown.tokens.features - tokens.features).norm(dim=1)
        assert int(changed.argmax()) == token
        assert changed[token] > 0.5 * changed.sum()
        times = video.timestamps[own]
        assert tokens.seconds[unit].tolist() == pytest.approx([times[0], times[-1]])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_frame_is_in_one_unit_and_token_rectangles_lie_in_the_frame(adapter, shape):
    count = shape[0]
    times = np.array([0.0, 0.5, 3.0, 3.2, 9.0])[:count]
    frames = np.full((*shape, 3), 40, np.uint8)
    video = Video(frames, times, np.arange(count), 12.5, 10.0, 125, shape[1:])
    tokens = adapter.encode(video).tokens
    assert tokens.num_units in (count, -(-count // 2))
    size = -(-count // tokens.num_units)
    own = [times[unit * size : (unit + 1) * size] for unit in range(tokens.num_units)]
    ends = [[unit[0], unit[-1]] for unit in own]
    torch.testing.assert_close(tokens.seconds.double(), torch.tensor(ends).double())
    boxes = tokens.rectangles
    assert len(boxes) == tokens.tokens_per_unit and len(tokens.seconds) == tokens.num_units
    assert boxes.min() >= 0 and boxes[:, 2].max() <= shape[2] and boxes[:, 3].max() <= shape[1]
    area = ((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])).sum()
    least = min(shape[1:]) ** 2  # some models see only the middle square of the frames
    assert 0.7 * least < area <= shape[1] * shape[2] + 1e-6


@pytest.mark.parametrize("shape", [(1, 40, 60), (2, 1, 1)], ids=str)
def test_every_model_answers_about_single_and_tiny_frames(adapter, shape):
    if shape[1] == 1 and adapter.hf_model.config.model_type in ("molmo2", "minicpmv4_6"):
        pytest.skip("its processor refuses frames of one pixel")
    encoded = adapter.encode(Video.from_frames(np.full((*shape, 3), 90, np.uint8), 1))
    assert encoded.tokens.num_units in (shape[0], (shape[0] + 1) // 2)
    assert adapter.generate(encoded, "?", None, Sampling(1)).new_tokens == 1
