import pytest
import torch

from gleanvid.metrics import mask_overlap, spatial_iou, spatial_iou_curve
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


def test_mask_overlap_is_symmetric_and_refuses_records_of_different_clips():
    a, b = record([0, 1, 2]), record([2, 3])
    assert mask_overlap(a, b) == mask_overlap(b, a) == pytest.approx(0.25)
    with pytest.raises(ValueError, match="different clips"):
        mask_overlap(a, record([0], (4, 1, 1)))
