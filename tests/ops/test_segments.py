"""Segments partition the video, and cuts lie where neighbours differ most."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gleanvid.ops.segments import neighbour_cosines, spans_between, starts_of, weakest


@settings(max_examples=30, deadline=None)
@given(cuts=st.lists(st.booleans(), max_size=12))
def test_spans_partition_the_units_at_the_cuts(cuts):
    spans = spans_between(torch.tensor(cuts, dtype=torch.bool))
    units = [unit for span in spans for unit in range(span.start, span.stop)]
    assert units == list(range(len(cuts) + 1))
    assert [span.start for span in spans[1:]] == [t + 1 for t, cut in enumerate(cuts) if cut]
    starts = starts_of(spans).tolist()
    assert all(starts[unit] == span.start for span in spans for unit in units[span])


def test_weakest_takes_the_smallest_and_the_earlier_of_equals():
    cosines = torch.tensor([0.5, 0.1, 0.5, 0.9])
    assert weakest(cosines, 2).tolist() == [True, True, False, False]
    assert weakest(cosines, 9).all() and not weakest(cosines, -1).any()
    assert weakest(cosines[:0], 3).tolist() == []


def test_cosines_see_direction_only():
    descriptors = torch.tensor([[1.0, 0.0], [5.0, 0.0], [0.0, 2.0], [0.0, -2.0]])
    torch.testing.assert_close(neighbour_cosines(descriptors), torch.tensor([1.0, 0.0, -1.0]))
    assert len(neighbour_cosines(descriptors[:1])) == 0
