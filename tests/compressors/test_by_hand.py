import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import gleanvid
from gleanvid.compressors import COMPRESSORS, from_settings, method_from
from gleanvid.compressors.by_hand import ByHand, by_hand
from tests.compressors.forms import noise

SIDE = st.integers(1, 5)


@given(st.tuples(SIDE, SIDE, SIDE), st.data())
def test_hand_edited_mask_is_unchanged_after_conversion_to_text_and_back(grid, data):
    size = grid[0] * grid[1] * grid[2]
    chosen = data.draw(st.sets(st.integers(0, size - 1), min_size=1))
    mask = torch.zeros(size, dtype=torch.bool)
    mask[list(chosen)] = True
    method = by_hand(mask.reshape(grid))
    assert by_hand(list(chosen), grid) == from_settings(method.settings()) == method
    assert method_from(f"by_hand(keep={method.keep})", 0.5) == method
    assert torch.equal(method.compress(noise(grid)).mask, mask)
    assert method.retention_ratio == len(chosen) / size


@pytest.mark.parametrize(
    ("keep", "sentence"),
    [
        ("", "must be a token grid and the kept tokens"),
        ("2x3x4", "must be a token grid and the kept tokens"),
        (None, "must be a token grid and the kept tokens"),
        ("2x3x4 0,1", "must be a token grid and the kept tokens"),
        ("2x3x4 24", "from 0 to 23"),
        ("2x3x4 5-3", "from 0 to 23"),
        ("2x3x4 0-9 0-9", "in ascending order"),
        ("99999x99999x9 0", "at most 16777216 tokens"),
    ],
)
def test_malformed_text_of_a_hand_edited_mask_is_refused(keep, sentence):
    with pytest.raises(ValueError, match=sentence):
        ByHand(keep=keep)


def test_hand_edited_mask_for_another_grid_is_refused():
    with pytest.raises(ValueError, match="grid of 2x3x4; this video has 2x4x3"):
        by_hand("2x3x4 0-5").compress(noise((2, 4, 3)))


def test_hand_edited_mask_works_as_a_compressor_but_is_not_in_the_list_of_compressors(tmp_path):
    assert "by_hand" not in COMPRESSORS
    video = gleanvid.Video.from_frames(torch.zeros(4, 64, 64, 3, dtype=torch.uint8).numpy(), 1)
    full = gleanvid.ask(video, "What moves?", "builtin", "full")
    mask = torch.zeros(full.compression.grid, dtype=torch.bool)
    mask[0] = True
    run = gleanvid.ask(video, "What moves?", "builtin", gleanvid.by_hand(mask))
    assert torch.equal(run.compression.mask, mask.flatten()) and run.answer
    run.save(tmp_path / "run")
    again = gleanvid.Run.load(tmp_path / "run")
    assert from_settings(again.compressor) == gleanvid.by_hand(mask)
