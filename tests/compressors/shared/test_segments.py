import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gleanvid.compressors.shared.segments import (
    contiguous_labels,
    runs_of,
    spans_between,
    starts_of,
    weakest,
)


@settings(max_examples=30)
@given(cuts=st.lists(st.booleans(), max_size=12))
def test_spans_partition_the_units_at_the_cuts(cuts):
    spans = spans_between(torch.tensor(cuts, dtype=torch.bool))
    units = [unit for span in spans for unit in range(span.start, span.stop)]
    assert units == list(range(len(cuts) + 1))
    assert [span.start for span in spans[1:]] == [t + 1 for t, cut in enumerate(cuts) if cut]
    starts = starts_of(spans).tolist()
    assert all(starts[unit] == span.start for span in spans for unit in units[span])


def test_cuts_are_made_at_the_smallest_cosines_and_of_equal_ones_at_the_earlier():
    cosines = torch.tensor([0.5, 0.1, 0.5, 0.9])
    assert weakest(cosines, 2).tolist() == [True, True, False, False]
    assert weakest(cosines, 9).all() and not weakest(cosines, -1).any()
    assert weakest(cosines[:0], 3).tolist() == []


@pytest.mark.parametrize(
    ("labels", "refined"),
    [
        ([0, 0, 1, 1], [0, 0, 1, 1]),
        ([0, 1, 2], [0, 0, 0]),  # no run is longer than one frame, so all frames get label 0
        # label 0 keeps only its longest run, at the end; its shorter run is part of a gap
        ([0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0]),
        # if the runs on both sides of a gap are equally long, the gap joins the left one
        ([0, 0, 2, 1, 1], [0, 0, 0, 1, 1]),
        ([0, 0, 2, 1, 1, 1], [0, 0, 1, 1, 1, 1]),  # the gap joins the longer run
        ([2, 1, 1], [1, 1, 1]),  # without a run on its left, the gap joins the run on its right
        # frames 2 and 5 are gaps between equally long runs: each gap joins the run on its left
        ([0, 0, 2, 1, 1, 3, 4, 4], [0, 0, 0, 1, 1, 1, 4, 4]),
        ([7], [0]),
    ],
)
def test_each_label_keeps_its_longest_run_and_gaps_join_a_neighbour(labels, refined):
    assert contiguous_labels(labels) == refined


@given(st.lists(st.integers(0, 4), min_size=2, max_size=30))
def test_every_segment_has_at_least_two_frames(labels):
    refined = contiguous_labels(labels)
    assert len(refined) == len(labels)
    assert all(length > 1 for _, _, length in runs_of(refined))
