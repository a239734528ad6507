import itertools

import pytest
import torch

from gleanvid.compressors import COMPRESSORS
from gleanvid.metrics import (
    mask_overlap,
    random_iou,
    random_iou_curve,
    spatial_iou,
    spatial_iou_curve,
)
from gleanvid.metrics.overlap import expected_iou
from gleanvid.types import VideoTokens
from tests.metrics.cases import record


def test_spatial_iou_is_1_for_fixed_positions_and_smaller_for_shifted_ones():
    grid = (3, 1, 4)
    assert spatial_iou(record([0, 1, 4, 5, 8, 9], grid), 1) == 1.0
    # positions kept in the three units: {0,1}, {1,2}, {2,3}
    moving = record([0, 1, 5, 6, 10, 11], grid)
    assert spatial_iou(moving, 1) == pytest.approx(1 / 3)
    assert spatial_iou(moving, 2) == 0.0


def test_spatial_iou_is_nan_for_gaps_beyond_the_clip_and_ignores_pairs_of_empty_units():
    assert torch.isnan(spatial_iou_curve(record([0, 2]), [2, 5])).all()
    half = record([0, 4], (4, 1, 2))  # units 0 and 2 keep position 0, the others nothing
    assert spatial_iou(half, 1) == 0.0
    assert spatial_iou(half, 2) == 1.0  # units 1 and 3 keep nothing, so that pair does not count
    with pytest.raises(ValueError, match="gap=0"):
        spatial_iou(half, 0)


@pytest.mark.parametrize(("first", "second", "size"), [(2, 2, 5), (1, 3, 4), (4, 4, 5), (0, 2, 3)])
def test_expected_iou_is_the_mean_over_all_pairs_of_subsets(first, second, size):
    places = range(size)
    values = [
        len(set(a) & set(b)) / len(set(a) | set(b))
        for a in itertools.combinations(places, first)
        for b in itertools.combinations(places, second)
    ]
    assert expected_iou(first, second, size) == pytest.approx(sum(values) / len(values))


def test_random_selection_has_the_expected_iou():
    tokens = VideoTokens(
        torch.randn(64 * 100, 2, generator=torch.Generator().manual_seed(0)), (64, 10, 10)
    )
    kept = COMPRESSORS["random"](0.25).compress(tokens)
    found, line = spatial_iou_curve(kept), random_iou_curve(kept)
    torch.testing.assert_close(found, line, atol=0.02, rtol=0)
    assert random_iou(kept, 100) != random_iou(kept, 100)  # NaN, because the gap exceeds the clip


def test_mask_overlap_is_symmetric_and_refuses_records_of_different_clips():
    a, b = record([0, 1, 2]), record([2, 3])
    assert mask_overlap(a, b) == mask_overlap(b, a) == pytest.approx(0.25)
    with pytest.raises(ValueError, match="different clips"):
        mask_overlap(a, record([0], (4, 1, 1)))
