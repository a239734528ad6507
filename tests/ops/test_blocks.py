"""Blocks of the averaging baselines: near-square, near-equal, as many as asked for."""

import pytest
import torch

from gleanvid.compressors import method_from
from gleanvid.ops.blocks import averaged_blocks, even_shares, grid_blocks
from gleanvid.types import VideoTokens


@pytest.mark.parametrize(("rows", "columns"), [(6, 6), (5, 7), (14, 14), (1, 9), (2, 3)])
def test_every_count_has_that_many_blocks_of_near_equal_area(rows, columns):
    for count in range(1, rows * columns + 1):
        centre, size = grid_blocks(rows, columns, count)
        places, sizes = centre.unique(return_counts=True)
        assert len(places) == count
        assert torch.equal(centre[places], places)  # the centre of a block lies in it
        assert torch.equal(size[places], sizes.float())


def test_a_quarter_of_even_sides_is_blocks_of_two_by_two():
    features = torch.randn(2, 6, 8, 5)
    rows = method_from("resize(0.25)").compress(VideoTokens.from_grid(features))
    pooled = torch.nn.functional.avg_pool2d(features.permute(0, 3, 1, 2), 2)
    expected = pooled.permute(0, 2, 3, 1).flatten(0, 2)
    torch.testing.assert_close(rows.apply(features.flatten(0, 2)), expected)


def test_an_eighth_is_blocks_of_two_units_too():
    features = torch.randn(4, 6, 8, 5)
    record = method_from("pool(0.125)").compress(VideoTokens.from_grid(features))
    pooled = torch.nn.functional.avg_pool3d(features.permute(3, 0, 1, 2), 2)
    expected = pooled.permute(1, 2, 3, 0).flatten(0, 2)
    torch.testing.assert_close(record.apply(features.flatten(0, 2)), expected)
    assert record.budgets.tolist() == [12, 0, 12, 0]


def test_more_blocks_than_tokens_are_refused():
    with pytest.raises(ValueError, match="have no 13 blocks"):
        averaged_blocks(VideoTokens(torch.rand(24, 2), (2, 3, 4)), 1, 13)


def test_shares_differ_by_at_most_one_and_sum_to_the_total():
    for total in range(12):
        shares = even_shares(total, 5)
        assert sum(shares) == total and max(shares) - min(shares) <= 1


def test_frames_keeps_whole_units_and_a_lattice_of_one():
    tokens = VideoTokens(torch.rand(8 * 12, 4), (8, 3, 4))
    budgets = method_from("frames(0.3)").compress(tokens).budgets.tolist()
    assert budgets == [0, 12, 0, 0, 12, 0, 4, 0]
