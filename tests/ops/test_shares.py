"""Records built from shares: rows in order, the heaviest row named, mixing only where needed."""

import torch

from gleanvid.ops.shares import Shares, shared_record
from gleanvid.types import VideoTokens

FEATURES = torch.arange(12.0).view(6, 2)
TOKENS = VideoTokens(FEATURES, (2, 1, 3))


def shares(place, source, weight, twin=False):
    return Shares.of(torch.tensor(place), torch.tensor(source), torch.tensor(weight), twin)


def test_one_row_a_token_needs_no_mixing():
    merged = shares([4, 4, 4], [4, 1, 0], [0.5, 0.25, 0.25])
    record = shared_record(TOKENS, [Shares.untouched(torch.tensor([2])), merged])
    assert record.mixing is None
    assert record.keep.tolist() == [2, 4]
    assert record.group.tolist() == [1, 1, 0, -1, 1, -1]
    out = record.apply(FEATURES)
    torch.testing.assert_close(out[0], FEATURES[2])
    expected = 0.5 * FEATURES[4] + 0.25 * FEATURES[1] + 0.25 * FEATURES[0]
    torch.testing.assert_close(out[1], expected)


def test_a_token_in_two_rows_is_mixed_and_grouped_where_it_weighs_most():
    record = shared_record(TOKENS, [shares([0, 0, 3, 3], [0, 1, 3, 1], [0.7, 0.3, 0.4, 0.6])])
    assert record.mixing is not None
    assert record.group.tolist() == [0, 1, -1, 1, -1, -1]
    assert record.weight.tolist() == torch.tensor([0.7, 0.6, 0.0, 0.4, 0.0, 0.0]).tolist()
    out = record.apply(FEATURES)
    torch.testing.assert_close(out[0], 0.7 * FEATURES[0] + 0.3 * FEATURES[1])
    torch.testing.assert_close(out[1], 0.4 * FEATURES[3] + 0.6 * FEATURES[1])


def test_two_rows_may_stand_at_one_index():
    twin = shares([5, 5], [5, 4], [0.5, 0.5], twin=True)
    record = shared_record(TOKENS, [twin, Shares.untouched(torch.tensor([5]))])
    assert record.keep.tolist() == [5, 5]
    out = record.apply(FEATURES)
    torch.testing.assert_close(out[0], FEATURES[5])
    torch.testing.assert_close(out[1], (FEATURES[5] + FEATURES[4]) / 2)
    assert record.group.tolist() == [-1, -1, -1, -1, 1, 0]


def test_shares_of_one_token_in_one_row_add_up():
    record = shared_record(TOKENS, [shares([2, 2, 2], [2, 2, 1], [0.5, 0.2, 0.3])])
    assert record.mixing is None
    torch.testing.assert_close(record.weight[:3], torch.tensor([0.0, 0.3, 0.7]))


def test_untouched_rows_alone_are_pruning():
    record = shared_record(TOKENS, [Shares.untouched(torch.tensor([1, 4]))])
    assert not record.merges
    assert torch.equal(record.apply(FEATURES), FEATURES[[1, 4]])
