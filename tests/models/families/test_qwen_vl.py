"""Geometry by painting: a painted rectangle changes exactly its own token's patches."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gleanvid.types import Video
from tests.models.tiny import noise_video


def patches_of(adapter, video):
    """[L, pixels]: what the vision tower is shown of each token."""
    text = adapter.chat_text(video, "?", ())
    inputs = adapter.build_inputs(video, text, None)
    pixels = inputs["pixel_values_videos"]
    grid = adapter.layout.grids(inputs)[0]
    return pixels.view(grid[0] * grid[1] * grid[2], -1), grid


SIZES = [(5, 70, 100), (4, 131, 57), (1, 64, 64), (3, 96, 200)]


@pytest.mark.parametrize("shape", SIZES, ids=str)
def test_a_painted_rectangle_is_seen_by_its_token_alone(qwen, shape):
    frames, height, width = shape
    blank = np.zeros((frames, height, width, 3), np.uint8)
    empty, grid = patches_of(qwen, Video.from_frames(blank))
    encoded = qwen.encode(Video.from_frames(blank))
    assert encoded.tokens.grid == grid
    per_unit = grid[1] * grid[2]
    for token in range(0, len(empty), 3):
        unit, place = divmod(token, per_unit)
        left, top, right, bottom = encoded.tokens.rectangles[place].tolist()
        inset_x, inset_y = (right - left) * 0.35, (bottom - top) * 0.35
        x = slice(round(left + inset_x), max(round(right - inset_x), round(left + inset_x) + 1))
        y = slice(round(top + inset_y), max(round(bottom - inset_y), round(top + inset_y) + 1))
        painted = blank.copy()
        painted[2 * unit : 2 * unit + 2, y, x] = 255
        shown, _ = patches_of(qwen, Video.from_frames(painted))
        changed = (shown - empty).abs().sum(1)
        assert int(changed.argmax()) == token
        assert changed[token] > 0.9 * changed.sum()


def test_rectangles_tile_the_source_even_if_frames_were_shrunk(qwen):
    video = noise_video(4, 60, 90)
    shrunk = Video(
        video.frames, video.timestamps, video.indices, 2.0, 2.0, 4, source_size=(600, 900)
    )
    encoded = qwen.encode(shrunk)
    boxes = encoded.tokens.rectangles
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    assert float(area.sum()) == pytest.approx(600 * 900)
    assert boxes.min() == 0 and boxes[:, 2].max() == 900 and boxes[:, 3].max() == 600


def test_timestamps_in_the_prompt_are_the_true_times(qwen3):
    """Variable frame rate: the label of a pair is the mean of its two times."""
    times = np.array([0.0, 0.5, 3.0, 3.2, 9.0])
    frames = noise_video(5).frames
    video = Video(frames, times, np.array([0, 7, 31, 33, 80]), 12.5, 10.0, 125, (70, 100))
    ids = qwen3.build_inputs(video, qwen3.chat_text(video, "?", ()), None)["input_ids"]
    text = qwen3.processor.tokenizer.decode(ids[0])
    assert [f"<{label} seconds>" in text for label in ("0.2", "3.1", "9.0")] == [True] * 3
    assert text.count(" seconds>") == 3
    seconds = qwen3.encode(video).tokens.seconds
    assert (
        torch.equal(seconds, torch.tensor([[0.0, 0.5], [3.0, 3.2], [9.0, 9.0]]).double())
        or (seconds - torch.tensor([[0.0, 0.5], [3.0, 3.2], [9.0, 9.0]])).abs().max() < 1e-6
    )


def test_no_frame_is_lost(qwen):
    for count in (1, 2, 7, 8):
        assert qwen.encode(noise_video(count)).tokens.num_units == (count + 1) // 2
