import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gleanvid.ops.segments import (
    contiguous_labels,
    neighbour_cosines,
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


def test_cosines_of_neighbouring_units_ignore_the_length_of_descriptors():
    descriptors = torch.tensor([[1.0, 0.0], [5.0, 0.0], [0.0, 2.0], [0.0, -2.0]])
    torch.testing.assert_close(neighbour_cosines(descriptors), torch.tensor([1.0, 0.0, -1.0]))
    assert len(neighbour_cosines(descriptors[:1])) == 0


@pytest.mark.parametrize(
    ("labels", "refined"),
    [
        ([0, 0, 1, 1], [0, 0, 1, 1]),
        ([0, 1, 2], [0, 0, 0]),  # no label repeats, so all frames get one label
        (
            [0, 0, 1, 0, 0, 0],
            [0, 0, 0, 0, 0, 0],
        ),  # a label keeps its longest run only; its shorter run of 0 is a gap
        # if both neighbours of a gap are equally long, it joins the left one
        ([0, 0, 2, 1, 1], [0, 0, 0, 1, 1]),
        ([0, 0, 2, 1, 1, 1], [0, 0, 1, 1, 1, 1]),  # the gap joins the longer neighbour
        ([2, 1, 1], [1, 1, 1]),  # without a left neighbour, the gap joins the right one
        # two gaps, each between equally long neighbours, join their left neighbours
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
