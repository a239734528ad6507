"""A record from homes and weights is what those homes and weights say."""

import pytest
import torch

from gleanvid.ops.records import identity_record, merge_record, required, whole_record
from gleanvid.types import Compression, VideoTokens

TOKENS = VideoTokens(torch.arange(12.0).view(6, 2), (1, 2, 3))


def test_rows_stand_at_their_homes_and_mix_their_tokens():
    home = torch.tensor([1, 1, -1, 4, 4, 5])
    weight = torch.tensor([0.25, 0.75, 9.0, 0.5, 0.5, 1.0])
    record = merge_record(TOKENS, home, weight)
    assert record.keep.tolist() == [1, 4, 5]
    assert record.group.tolist() == [0, 0, -1, 1, 1, 2]
    assert record.weight[2] == 0
    x = TOKENS.features
    expected = torch.stack([0.25 * x[0] + 0.75 * x[1], 0.5 * x[3] + 0.5 * x[4], x[5]])
    torch.testing.assert_close(record.apply(x), expected)


def test_the_identity_changes_nothing():
    record = identity_record(TOKENS)
    assert not record.merges
    assert torch.equal(record.apply(TOKENS.features), TOKENS.features)


def test_a_signal_that_is_absent_is_named():
    with pytest.raises(ValueError, match=r"Somebody needs VideoTokens\.keys"):
        required(TOKENS, "keys", "Somebody")


def test_stages_compose_into_one_record_of_the_original_tokens():
    first = Compression.pruned(torch.tensor([1, 3, 4, 7]), (2, 2, 2))
    second = Compression.pruned(torch.tensor([0, 2]), (2, 2, 2), num_tokens=4)
    whole = whole_record({3: second, 0: first})
    assert whole.keep.tolist() == [1, 4] and whole.num_tokens == 8
    assert whole_record({0: first}) is first
    with pytest.raises(ValueError, match="no stage"):
        whole_record({})
