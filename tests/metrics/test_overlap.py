import pytest

from gleanvid.metrics import mask_overlap
from tests.metrics.cases import record


def test_mask_overlap_is_symmetric_and_refuses_records_of_different_clips():
    a, b = record([0, 1, 2]), record([2, 3])
    assert mask_overlap(a, b) == mask_overlap(b, a) == pytest.approx(0.25)
    with pytest.raises(ValueError, match="different clips"):
        mask_overlap(a, record([0], (4, 1, 1)))
