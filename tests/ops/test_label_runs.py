"""Refined labels are contiguous where something repeats, and fill their holes as said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gleanvid.ops.label_runs import contiguous_labels, runs_of


@pytest.mark.parametrize(
    ("labels", "refined"),
    [
        ([0, 0, 1, 1], [0, 0, 1, 1]),
        ([0, 1, 2], [0, 0, 0]),  # nothing repeats: one label
        ([0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0]),  # the shorter run of 0 is a hole as well
        ([0, 0, 2, 1, 1], [0, 0, 0, 1, 1]),  # tie of the neighbours: left
        ([0, 0, 2, 1, 1, 1], [0, 0, 1, 1, 1, 1]),  # longer neighbour
        ([2, 1, 1], [1, 1, 1]),  # no neighbour on the left
        ([0, 0, 2, 1, 1, 3, 4, 4], [0, 0, 0, 1, 1, 1, 4, 4]),  # tie: left, both times
        ([7], [0]),
    ],
)
def test_examples(labels, refined):
    assert contiguous_labels(labels) == refined


@given(st.lists(st.integers(0, 4), min_size=2, max_size=30))
def test_every_run_of_the_result_has_two_frames_or_more(labels):
    refined = contiguous_labels(labels)
    assert len(refined) == len(labels)
    assert all(length > 1 for _, _, length in runs_of(refined))
