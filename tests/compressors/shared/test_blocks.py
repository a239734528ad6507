import pytest
import torch

from gleanvid.compressors import method_from
from gleanvid.compressors.shared.blocks import averaged_blocks, even_shares, grid_blocks
from gleanvid.types import VideoTokens


@pytest.mark.parametrize(("rows", "columns"), [(6, 6), (5, 7), (14, 14), (1, 9), (2, 3)])
def test_grid_is_divided_into_the_requested_number_of_blocks_with_centres_inside(rows, columns):
    for count in range(1, rows * columns + 1):
        centre, size = grid_blocks(rows, columns, count)
        places, sizes = centre.unique(return_counts=True)
        assert len(places) == count
        assert torch.equal(centre[places], places)  # every block contains its centre
        assert torch.equal(size[places], sizes.float())


def test_pooling_to_a_quarter_averages_blocks_of_2_by_2_tokens():
    features = torch.randn(2, 6, 8, 5)
    rows = method_from("resize(0.25)").compress(VideoTokens.from_grid(features))
    pooled = torch.nn.functional.avg_pool2d(features.permute(0, 3, 1, 2), 2)
    expected = pooled.permute(0, 2, 3, 1).flatten(0, 2)
    torch.testing.assert_close(rows.apply(features.flatten(0, 2)), expected)


def test_pooling_to_an_eighth_averages_blocks_of_2_units_by_2_by_2_tokens():
    features = torch.randn(4, 6, 8, 5)
    record = method_from("pool(0.125)").compress(VideoTokens.from_grid(features))
    pooled = torch.nn.functional.avg_pool3d(features.permute(3, 0, 1, 2), 2)
    expected = pooled.permute(1, 2, 3, 0).flatten(0, 2)
    torch.testing.assert_close(record.apply(features.flatten(0, 2)), expected)
    assert record.budgets.tolist() == [12, 0, 12, 0]


def test_dividing_a_grid_into_more_blocks_than_tokens_is_refused():
    with pytest.raises(ValueError, match="cannot be cut into 13 blocks"):
        averaged_blocks(VideoTokens(torch.rand(24, 2), (2, 3, 4)), 1, 13)


def test_even_shares_differ_by_at_most_one_and_sum_to_the_total():
    for total in range(12):
        shares = even_shares(total, 5)
        assert sum(shares) == total and max(shares) - min(shares) <= 1


def test_frame_sampling_keeps_whole_units_and_spreads_the_remainder_over_one_unit():
    tokens = VideoTokens(torch.rand(8 * 12, 4), (8, 3, 4))
    budgets = method_from("frames(0.3)").compress(tokens).budgets.tolist()
    assert budgets == [0, 12, 0, 0, 12, 0, 4, 0]
